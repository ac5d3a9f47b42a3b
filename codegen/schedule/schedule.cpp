// The driver: all loops are planned, then rewritten, then what the rewriting left is cleaned up.
#include "codegen/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/passes/passes.h"
#include "codegen/schedule/pipeline.h"
#include "codegen/schedule/plan.h"
#include "codegen/schedule/single_slot.h"

namespace tilewright::schedule {
namespace {

LoopReport report_of(const ir::Module& module, const LoopPlan& plan) {
  LoopReport report{.span = module.op(plan.loop).span,
                    .requested = plan.requested,
                    .stages = plan.stages,
                    .why = plan.why,
                    .loads = {}};
  for (const PlannedLoad& load : plan.loads) {
    const ir::OpNode& op = module.op(load.op);
    report.loads.push_back({op.span, module.type(op.results[0]), load.how, load.why});
  }
  return report;
}

std::string_view how_text(LoadReport::How how) {
  switch (how) {
    case LoadReport::How::kAsync:
      return "copied ahead to shared memory";
    case LoadReport::How::kStaged:
      return "loaded ahead, then to shared memory";
    case LoadReport::How::kAhead:
      return "loaded ahead to registers";
    case LoadReport::How::kOnce:
      return "copied once, to shared memory";
    case LoadReport::How::kKept:
      return "not moved";
  }
  return "";
}

std::string place(Span span, const SourceMap* sources) {
  if (sources == nullptr || !span.valid() || span.file >= sources->size()) return "";
  LineColumn at = sources->file(span.file).locate(span.begin);
  return fmt::format("{}:{}: ", at.line, at.column);
}

}  // namespace

int ScheduleReport::most_stages() const {
  int most = 1;
  for (const LoopReport& loop : loops) most = std::max(most, loop.stages);
  return most;
}

bool ScheduleReport::uses_shared() const {
  return std::ranges::any_of(loops, [](const LoopReport& loop) { return loop.shared_bytes > 0; });
}

ScheduleReport schedule(ir::Module& module, const Target& target, const ScheduleOptions& options) {
  ScheduleReport report;
  if (options.keep_rows) report.kept = keep_rows(module, target);
  std::vector<LoopPlan> plans = Planner(module, target, options).plan_all();
  bool changed = false;
  for (const LoopPlan& plan : plans) {
    if (plan.loads.empty()) continue;
    LoopReport loop = report_of(module, plan);
    if (plan.stages > 1 || plan.uses(LoadReport::How::kAsync)) {
      loop.shared_bytes = plan.stages > 1 ? pipeline(module, plan) : copy_in_place(module, plan);
      changed = true;
    }
    report.loops.push_back(std::move(loop));
  }
  if (!changed) return report;
  passes::canonicalize(module);
  passes::hoist_loop_invariants(module);
  passes::eliminate_common_subexpressions(module);
  passes::eliminate_dead_code(module);
  return report;
}

std::string to_string(const ScheduleReport& report, const SourceMap* sources) {
  std::string out;
  for (const LoopReport& loop : report.loops) {
    out += fmt::format("{}loop: {} of {} stages", place(loop.span, sources), loop.stages,
                       loop.requested);
    if (loop.shared_bytes > 0) out += fmt::format(", {} bytes of shared memory", loop.shared_bytes);
    out += loop.why.empty() ? "\n" : "; " + loop.why + "\n";
    for (const LoadReport& load : loop.loads)
      out +=
          fmt::format("  {}load of {}: {}{}\n", place(load.span, sources), ir::to_string(load.type),
                      how_text(load.how), load.why.empty() ? "" : ": " + load.why);
  }
  for (const KeptLoad& load : report.kept)
    out += fmt::format("{}load of {}: kept in shared memory for {} iterations of later loops\n",
                       place(load.span, sources), ir::to_string(load.type), load.slots);
  if (!report.note.empty()) out += report.note + "\n";
  return out;
}

}  // namespace tilewright::schedule
