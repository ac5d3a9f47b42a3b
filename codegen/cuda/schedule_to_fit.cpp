#include "codegen/cuda/schedule_to_fit.h"

#include <fmt/format.h>

namespace tilewright::cuda {

Result<Source> schedule_to_fit(const ir::Module& module, const Target& target,
                               const std::function<Result<Source>(ir::Module&)>& emit) {
  schedule::ScheduleOptions options;
  std::string note;
  while (true) {
    ir::Module scheduled = module;
    schedule::ScheduleReport report = schedule::schedule(scheduled, target, options);
    Result<Source> source = emit(scheduled);
    if (source.ok()) {
      source->schedule = std::move(report);
      source->schedule.note = std::move(note);
      return source;
    }
    if (source.error().kind != DiagKind::kOutOfResources) return source;
    if (!report.kept.empty()) {
      options.keep_rows = false;
      continue;
    }
    if (!report.uses_shared()) return source;
    options.max_stages = report.most_stages() - 1;
    note = fmt::format("{}: with more, {}",
                       options.max_stages > 0 ? fmt::format("at most {} stages", options.max_stages)
                                              : "no copies to shared memory",
                       source.error().message);
  }
}

}  // namespace tilewright::cuda
