#include "codegen/cpu/combine.h"

#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

Combiner::Combiner(Emitter& e, const OpNode& op) : e_(e), op_(op) {
  for (ir::OpId id : e.module.region(op.regions[0]).ops)
    branches_ |= !e.module.op(id).regions.empty();
}

Combiner::Values Combiner::evaluate(const Index& index) {
  Values out;
  for (ValueId operand : op_.operands)
    out.push_back(e_.vector(e_.lanes(operand, index), e_.type(operand).element(), index.width));
  return out;
}

Combiner::Values Combiner::combine(const Values& a, const Values& b, int width) {
  const ir::Region& region = e_.module.region(op_.regions[0]);
  if (branches_) return combine_scalars(region, a, b);
  std::vector<Lanes> known(e_.module.value_count());
  for (size_t k = 0; k < 2 * arity(); ++k) {
    const V& value = k < arity() ? a[k] : b[k - arity()];
    known[region.args[k].index] = width == 1 ? Lanes::uniform(value) : Lanes::of_vector(value);
  }
  auto get = [&](ValueId id) {
    const Lanes& lanes = known[id.index];
    bool is_known = !lanes.scalar.empty() || !lanes.vector.empty();
    return is_known ? lanes : Lanes::uniform(e_.scalar(id));
  };
  for (ir::OpId id : region.ops) {
    const OpNode& op = e_.module.op(id);
    if (op.op == ir::Op::Yield) {
      Values out;
      for (size_t k = 0; k < arity(); ++k)
        out.push_back(e_.vector(get(op.operands[k]), e_.type(op_.operands[k]).element(), width));
      return out;
    }
    if (ir::op_info(op.op).family != ir::Family::kElementwise) {
      known[op.results[0].index] = shape_lanes(e_, op, 0, Index{});
      continue;
    }
    std::vector<Lanes> operands;
    for (ValueId operand : op.operands) operands.push_back(get(operand));
    known[op.results[0].index] = e_.apply(op, operands, width);
  }
  TW_UNREACHABLE("a combining region has no yield");
}

Combiner::Values Combiner::combine_scalars(const ir::Region& region, const Values& a,
                                           const Values& b) {
  for (size_t k = 0; k < 2 * arity(); ++k)
    e_.set_scalar(region.args[k], k < arity() ? a[k] : b[k - arity()]);
  e_.emit_region(op_.regions[0]);
  Values out;
  for (ValueId value : e_.module.op(region.ops.back()).operands) out.push_back(e_.scalar(value));
  return out;
}

}  // namespace tilewright::cpu
