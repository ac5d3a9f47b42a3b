// Decides lazy or buffered for each tile value, from the last op to the first: when a value is
// looked at, all its users are decided, so the ops that will evaluate it, and how often, are known.
#include <algorithm>
#include <cmath>

#include "codegen/cpu/planner.h"

namespace tilewright::cpu {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// Rough cost of one element in vector instructions.
double own_cost(const ir::Module& module, const OpNode& op) {
  if (op.op == Op::Load) return 1;
  if (ir::op_info(op.op).family != ir::Family::kElementwise) return 0.05;
  const ir::Type& type = module.type(op.operands.back());
  bool floats = !type.is_pointer && is_float(type.dtype);
  bool narrow = floats && dtype_bits(type.dtype) < 32;
  double conversion = narrow ? 3 : 0;
  switch (op.op) {
    case Op::Div:
    case Op::DivRn:
    case Op::Rem:
      return floats ? (op.op == Op::Rem ? 50 : 5) + conversion : 12;
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tanh:
    case Op::Erf:
      return type.dtype == Dtype::kF64 ? 100 : 20;
    case Op::Sqrt:
    case Op::SqrtRn:
    case Op::Rsqrt:
      return 6;
    case Op::MulHi:
      return 3;
    case Op::Min:
    case Op::Max:
      return floats ? 4 + conversion : 0.3;
    case Op::Cast: {
      const ir::Type& result = module.type(op.results[0]);
      bool to_narrow =
          !result.is_pointer && is_float(result.dtype) && dtype_bits(result.dtype) < 32;
      return narrow || to_narrow ? 3 : 0.3;
    }
    default:
      return floats ? 1 + conversion : 0.1;
  }
}

}  // namespace

bool Planner::is_lane_op(const OpNode& op) {
  switch (ir::op_info(op.op).family) {
    case ir::Family::kSource:
    case ir::Family::kShape:
    case ir::Family::kElementwise:
      return true;
    default:
      return op.op == Op::Hint;
  }
}

void Planner::estimate_costs() {
  cost_.assign(module_.value_count(), 0.3);  // what is in a buffer: one read
  for (OpId id : order_) {
    const OpNode& op = module_.op(id);
    if (!is_lane_op(op)) continue;
    double cost = own_cost(module_, op);
    for (ValueId operand : op.operands)
      if (module_.type(operand).is_tile()) cost += cost_[operand.index];
    // Beyond this, it is certain that the value is buffered where that pays.
    for (ValueId result : op.results) cost_[result.index] = std::min(cost, 1e6);
  }
}

// Adds `weight` evaluations by `sink`; several uses in one sink are shared, so the largest counts.
void Planner::add_sink(std::vector<Sink>& sinks, OpId sink, double weight) {
  auto at = std::lower_bound(sinks.begin(), sinks.end(), sink,
                             [](const Sink& a, OpId b) { return a.op < b; });
  if (at != sinks.end() && at->op == sink)
    at->weight = std::max(at->weight, weight);
  else
    sinks.insert(at, {sink, weight});
}

void Planner::collect_sinks(ValueId value) {
  std::vector<Sink>& sinks = sinks_[value.index];
  sinks.clear();
  auto count = static_cast<double>(module_.type(value).element_count());
  int depth = depth_of_value(value);
  for (OpId user_id : users_[value.index]) {
    const OpNode& user = module_.op(user_id);
    double deeper = std::pow(8.0, depth_[user_id.index] - depth);
    bool lazy = false, evaluates = user.results.empty() || !may_be_lazy(user);
    for (ValueId result : user.results) {
      Plan::How how = plan_.of(result);
      if (how == Plan::How::kDead || !may_be_lazy(user)) continue;
      auto ratio = static_cast<double>(module_.type(result).element_count()) / count;
      if (how == Plan::How::kLazy) {
        lazy = true;
        for (const Sink& sink : sinks_[result.index])
          add_sink(sinks, sink.op, sink.weight * ratio * deeper);
      } else {
        add_sink(sinks, user_id, ratio * deeper);
      }
    }
    if (evaluates && !lazy && !is_dead(user)) add_sink(sinks, user_id, deeper);
  }
}

// Whether a load has one reader, in its own region, and nothing between them can write to memory.
bool Planner::waits_undisturbed(OpId load_id, ValueId result) const {
  const OpNode& load = module_.op(load_id);
  const std::vector<Sink>& sinks = sinks_[result.index];
  if (sinks.size() != 1 || sinks[0].weight > 1 || load.attrs.get_int("volatile") != 0) return false;
  if (module_.op(sinks[0].op).parent != load.parent) return false;
  for (int p = begin_[load_id.index]; p < begin_[sinks[0].op.index]; ++p) {
    const OpNode& between = module_.op(op_at_[static_cast<size_t>(p)]);
    if (ir::op_info(between.op).has(ir::kWrites) && between.op != Op::Assert &&
        between.op != Op::Assume)
      return false;
  }
  return true;
}

// Such a load is done by its reader, except by stores: their chunks would be written before later
// chunks are read (but see defer_loads).
bool Planner::may_wait(OpId load_id, ValueId result) const {
  return waits_undisturbed(load_id, result) &&
         !ir::op_info(module_.op(sinks_[result.index][0].op).op).has(ir::kWrites);
}

// The pointers of the tile are one run of consecutive elements.
bool Planner::is_one_run(ValueId pointers) const {
  const ir::Type& type = module_.type(pointers);
  const analysis::AxisInfo& info = axes_[pointers.index];
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] == 1) continue;
    return d < info.contiguity.size() && info.contiguity[d] == type.shape[d] &&
           type.shape[d] == type.element_count();
  }
  return false;
}

// The buffers that evaluating `value` reads are also needed by `sink`.
void Planner::keep_for(ValueId value, OpId sink) {
  if (plan_.is_buffer(value)) add_sink(sinks_[value.index], sink, 0);
  if (plan_.of(value) != Plan::How::kLazy) return;
  for (ValueId operand : module_.def(value)->operands) keep_for(operand, sink);
}

// Loads for stores: worth two versions of the loop, as memory-bound kernels otherwise alternate
// between reading and writing whole tiles (measured: 10 against 20 GB/s).
void Planner::defer_loads() {
  for (OpId id : order_) {
    const OpNode& op = module_.op(id);
    if (op.op != Op::Load || !plan_.is_buffer(op.results[0])) continue;
    ValueId result = op.results[0];
    if (!waits_undisturbed(id, result)) continue;
    const Sink sink = sinks_[result.index][0];
    const OpNode& store = module_.op(sink.op);
    if (store.op != Op::Store || !is_one_run(op.operands[0]) || !is_one_run(store.operands[0]))
      continue;
    // Where both access the same elements, each is to be read before it is written.
    if (!std::all_of(store.operands.begin(), store.operands.end(),
                     [&](ValueId operand) { return reads_aligned(operand, result); }))
      continue;
    for (ValueId operand : op.operands) keep_for(operand, sink.op);
    plan_.deferred[sink.op.index].push_back(result);
    plan_.is_deferred[result.index] = true;
  }
}

bool Planner::wants_buffer(ValueId value) const {
  constexpr double kWorthIt = 4, kStore = 2, kRead = 1;
  double evaluations = 0, cost = cost_[value.index];
  for (const Sink& sink : sinks_[value.index]) evaluations += sink.weight;
  // Addresses stay lazy: in a buffer they would lose what is known about their contiguity.
  if (module_.type(value).is_pointer) cost /= 4;
  return evaluations > 1.01 && cost >= kWorthIt &&
         cost * (evaluations - 1) > kStore + kRead * evaluations;
}

// A gather reads any element of its source.
bool Planner::is_gathered_from(ValueId value) const {
  return std::ranges::any_of(users_[value.index], [&](OpId id) {
    const OpNode& user = module_.op(id);
    return user.op == Op::Gather && user.operands[0] == value;
  });
}

void Planner::decide() {
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const OpNode& op = module_.op(*it);
    for (ValueId result : op.results) {
      const ir::Type& type = module_.type(result);
      Plan::How& how = plan_.how[result.index];
      collect_sinks(result);
      bool unused = sinks_[result.index].empty() && !op.regions.size();
      if (type.is_scalar())
        how = Plan::How::kScalar;
      else if (unused)
        how = Plan::How::kDead;
      else if (is_gathered_from(result))
        how = Plan::How::kBuffer;
      else if (is_lane_op(op))
        how = wants_buffer(result) ? Plan::How::kBuffer : Plan::How::kLazy;
      else if (op.op == Op::Load && may_wait(*it, result))
        how = Plan::How::kLazy;
      else
        how = Plan::How::kBuffer;
      if (op.op == Op::Reduce && !unused && type.is_tile()) how = Plan::How::kBuffer;
    }
  }
  for (OpId id : order_)
    for (ir::RegionId region : module_.op(id).regions)
      for (ValueId arg : module_.region(region).args) {
        collect_sinks(arg);
        plan_.how[arg.index] =
            module_.type(arg).is_tile() ? Plan::How::kBuffer : Plan::How::kScalar;
      }
}

}  // namespace tilewright::cpu
