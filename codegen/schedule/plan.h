// What the schedule does with each loop and each load of it, decided before anything is changed.
#pragma once

#include <map>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/schedule/loop.h"
#include "codegen/schedule/pointer_roots.h"
#include "codegen/schedule/schedule.h"

namespace tilewright::schedule {

struct PlannedLoad {
  ir::OpId op;
  LoadReport::How how = LoadReport::How::kKept;
  std::string why;
  // False for loads whose values only go into addresses of loads that are started ahead.
  bool is_needed = true;
};

struct LoopPlan {
  ir::OpId loop;
  int requested = 1;
  int stages = 1;
  std::string why;
  std::vector<PlannedLoad> loads;

  bool uses(LoadReport::How how) const;
};

class Planner {
 public:
  Planner(const ir::Module& module, const Target& target, const ScheduleOptions& options);

  // Plans for the innermost `for` loops, in the order of the text.
  std::vector<LoopPlan> plan_all();

 private:
  LoopPlan plan(ir::OpId loop);
  // Why no load of the loop may move; empty if they may.
  std::string find_obstacle(const Loop& loop) const;
  std::string cannot_move(const Loop& loop, ir::OpId load);
  std::string writes_to(const Loop& loop, ir::OpId load);
  void find_needed(const Loop& loop, std::vector<PlannedLoad>& loads) const;
  void decide(const Loop& loop, LoopPlan& plan);
  // Where stages were asked for and one slot is what fits.
  void decide_single(const Loop& loop, LoopPlan& plan) const;
  // Why a load cannot be copied asynchronously; empty if it can.
  std::string cannot_copy(ir::OpId load) const;
  int registers(ir::OpId load) const;
  // Slots for a loop without dots.
  int slots_alone(const LoopPlan& plan) const;

  const ir::Module& module_;
  const Target& target_;
  const ScheduleOptions& options_;
  std::vector<analysis::AxisInfo> axes_;
  PointerRoots roots_;
  int threads_;
};

}  // namespace tilewright::schedule
