#include "tools/tilewright/report_json.h"

#include <nlohmann/json.hpp>

namespace tilewright::tools {
namespace {

using nlohmann::json;

json mix_json(const cuda::sass::Mix& mix) {
  json classes = json::object();
  for (int c = 0; c < cuda::sass::kClasses; ++c)
    if (int count = mix.by_class[static_cast<size_t>(c)])
      classes[std::string(cuda::sass::class_name(static_cast<cuda::sass::Class>(c)))] = count;
  return {{"total", mix.total},
          {"classes", classes},
          {"names", mix.by_name},
          {"shared_bytes_read", mix.shared_read},
          {"shared_bytes_written", mix.shared_written},
          {"global_bytes_read", mix.global_read},
          {"global_bytes_written", mix.global_written}};
}

json part_json(const report::Part& part) {
  const report::Work& work = part.work;
  json dots = json::array(), bounds = json::array(), code = json::array();
  for (const report::DotWork& dot : work.dot_work)
    dots.push_back({{"math", report::math_name(dot.math)},
                    {"operations", dot.operations},
                    {"passes", dot.passes}});
  for (const report::Bound& bound : part.bounds)
    bounds.push_back({{"name", bound.name}, {"clocks", bound.clocks}, {"how", bound.how}});
  for (const cuda::sass::Loop& loop : part.code) {
    json entry = mix_json(loop.mix);
    entry["header"] = loop.header;
    entry["latch"] = loop.latch;
    entry["conditional"] = loop.conditional;
    code.push_back(std::move(entry));
  }
  json out = {{"kind", work.is_loop ? "loop" : "outside"},
              {"path", part.from.path},
              {"first_line", part.from.line},
              {"last_line", part.to.line},
              {"bytes_loaded", work.loaded},
              {"bytes_stored", work.stored},
              {"dots", dots},
              {"other_operations", work.elementwise},
              {"intensity", part.intensity()},
              {"steps_in_flight", part.steps_in_flight},
              {"steps_a_turn", part.steps_a_turn},
              {"code", code},
              {"bounds", bounds}};
  if (work.steps) out["steps"] = *work.steps;
  if (part.schedule)
    out["schedule"] = {{"requested_stages", part.schedule->requested},
                       {"stages", part.schedule->stages},
                       {"why", part.schedule->why},
                       {"shared_bytes", part.schedule->shared_bytes}};
  return out;
}

}  // namespace

std::string to_json(const report::Report& report) {
  json parts = json::array(), spills = json::array(), phases = json::object();
  for (const report::Part& part : report.parts) parts.push_back(part_json(part));
  for (const report::SpillLine& spill : report.spills)
    spills.push_back(
        {{"path", spill.at.path}, {"line", spill.at.line}, {"instructions", spill.instructions}});
  for (const report::Phase& phase : report.phases) phases[phase.name] = phase.milliseconds;
  const cuda::Resources& r = report.resources;
  json out = {{"kernel", report.kernel},
              {"target", report.target->name},
              {"card", report.card->name},
              {"threads", report.threads},
              {"num_stages", report.num_stages},
              {"registers", r.registers},
              {"spill_instructions", r.spill_instructions},
              {"spills", spills},
              {"stack_bytes", r.stack_bytes},
              {"shared_bytes", r.shared_bytes},
              {"shared_limit", report.target->shared_per_block},
              {"code_bytes", r.code_bytes},
              {"occupancy",
               {{"programs", report.occupancy.blocks},
                {"warps", report.occupancy.warps},
                {"fraction", report.occupancy.fraction},
                {"bound", report.occupancy.bound}}},
              {"code", mix_json(report.mix)},
              {"parts", parts},
              {"notes", report.notes},
              {"milliseconds", phases}};
  return out.dump(2) + "\n";
}

}  // namespace tilewright::tools
