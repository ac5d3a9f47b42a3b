// The planner's state, shared by its two halves: what is buffered (plan_cost.cpp) and where
// (plan.cpp).
#pragma once

#include "codegen/analysis/axis_info.h"
#include "codegen/cpu/plan.h"

namespace tilewright::cpu {

class Planner {
 public:
  Planner(const ir::Module& module, int vector_bytes)
      : module_(module), vector_bytes_(vector_bytes), axes_(analysis::analyze_axes(module)) {}
  Plan run();

 private:
  struct Sink {
    ir::OpId op;
    double weight;  // evaluations for each element each time the value's own region runs
  };
  // A stretch of the op order in which a buffer holds something.
  struct Interval {
    int begin, end;
  };
  // Values that share one buffer.
  struct Group {
    int64_t bytes = 0;
    std::vector<Interval> intervals;
    int64_t offset = kNoBuffer;
  };

  // plan_cost.cpp
  static bool is_lane_op(const ir::OpNode& op);
  static bool may_be_lazy(const ir::OpNode& op) { return is_lane_op(op) || op.op == ir::Op::Load; }
  static void add_sink(std::vector<Sink>& sinks, ir::OpId sink, double weight);
  void estimate_costs();
  void collect_sinks(ir::ValueId value);
  bool waits_undisturbed(ir::OpId load_id, ir::ValueId result) const;
  bool may_wait(ir::OpId load_id, ir::ValueId result) const;
  bool is_one_run(ir::ValueId pointers) const;
  void keep_for(ir::ValueId value, ir::OpId sink);
  void defer_loads();
  bool wants_buffer(ir::ValueId value) const;
  bool is_gathered_from(ir::ValueId value) const;
  void decide();

  // plan.cpp
  void number(ir::RegionId region, int depth);
  int depth_of_value(ir::ValueId value) const;
  // Nothing uses the op's results and it has no effect of its own.
  bool is_dead(const ir::OpNode& op) const;
  int live_until(ir::ValueId value, int at_least) const;
  void create_groups();
  void create_loop_groups(ir::OpId id);
  size_t new_group(const ir::Type& type, Interval interval);
  void join_value(ir::ValueId value, size_t group, Interval interval);
  bool try_merge(ir::ValueId a, ir::ValueId b, std::vector<int> touching);
  void merge_loop(ir::OpId id);
  bool reads(ir::ValueId value, ir::ValueId target) const;
  bool reads_aligned(ir::ValueId value, ir::ValueId target) const;
  bool may_update_in_place(ir::ValueId arg, ir::ValueId next) const;
  void plan_yield(ir::OpId loop);
  void add_scratch(ir::OpId op, int64_t bytes, Interval interval);
  void place();

  const ir::Module& module_;
  int vector_bytes_;
  std::vector<analysis::AxisInfo> axes_;
  Plan plan_;
  std::vector<ir::OpId> order_;           // ops in text order
  std::vector<ir::OpId> op_at_;           // by position; the end of an op with regions has one too
  std::vector<int> begin_, end_, depth_;  // by op: positions, number of loops around
  std::vector<std::vector<ir::OpId>> users_;
  std::vector<std::vector<Sink>> sinks_;
  std::vector<double> cost_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;  // by value
  std::vector<std::pair<ir::OpId, size_t>> scratch_groups_;
};

}  // namespace tilewright::cpu
