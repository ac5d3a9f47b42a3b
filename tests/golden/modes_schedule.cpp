// Mode `schedule`: the module after the pipeline and the schedule pass, for target=sm_80 (the
// default) with at most stages=N, and the pass's report; with show=report, the report alone.
#include "codegen/passes/passes.h"
#include "codegen/schedule/schedule.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {

std::string run_schedule(const Case& c) {
  auto option = [&](std::string_view key, std::string otherwise) {
    auto it = c.options.find(key);
    return it == c.options.end() ? otherwise : it->second;
  };
  const Target* target = find_target(option("target", "sm_80"));
  if (!target) return "no such target\n";
  auto module = ir::parse(c.path, c.input);
  if (!module.ok()) return module.error().text() + "\n";
  if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
  if (Status status = passes::run_pipeline(*module); !status.ok())
    return status.error().text() + "\n";
  SourceMap sources;
  sources.add(c.path, c.input);
  schedule::ScheduleReport report =
      schedule::schedule(*module, *target, {.max_stages = std::stoi(option("stages", "32"))});
  if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
  std::string text = schedule::to_string(report, &sources);
  return option("show", "all") == "report" ? text : ir::print(*module) + text;
}

}  // namespace tilewright::golden
