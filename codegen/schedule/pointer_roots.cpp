#include "codegen/schedule/pointer_roots.h"

#include <algorithm>

namespace tilewright::schedule {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

Roots PointerRoots::of(ValueId pointer) {
  auto found = known_.find(pointer);
  if (found != known_.end()) return found->second;
  std::set<ValueId> seen;
  Roots roots;
  follow(pointer, seen, roots);
  return known_[pointer] = roots;
}

bool PointerRoots::may_overlap(ValueId a, ValueId b) {
  Roots x = of(a), y = of(b);
  if (x.unknown || y.unknown) return true;
  return std::ranges::any_of(x.arguments, [&](uint32_t i) { return y.arguments.contains(i); });
}

void PointerRoots::follow(ValueId value, std::set<ValueId>& seen, Roots& roots) {
  if (!seen.insert(value).second) return;
  if (!module_.type(value).is_pointer) {
    roots.unknown = true;
    return;
  }
  if (const OpNode* op = module_.def(value)) return follow_op(value, *op, seen, roots);
  const ir::Value& arg = module_.value(value);
  ir::OpId owner = module_.region(arg.region).parent;
  if (!owner.valid()) {
    roots.arguments.insert(arg.position);
  } else if (const OpNode& loop = module_.op(owner); loop.op == Op::For) {
    const OpNode& yield = module_.op(module_.region(arg.region).ops.back());
    follow(loop.operands[arg.position + 2], seen, roots);
    follow(yield.operands[arg.position - 1], seen, roots);
  } else {
    roots.unknown = true;
  }
}

void PointerRoots::follow_op(ValueId value, const OpNode& op, std::set<ValueId>& seen,
                             Roots& roots) {
  size_t position = module_.value(value).position;
  switch (op.op) {
    case Op::PtrAdd:
    case Op::Cast:
    case Op::Splat:
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Reshape:
    case Op::Permute:
    case Op::Split:
    case Op::Hint:
      return follow(op.operands[0], seen, roots);
    case Op::Join:
    case Op::Cat:
      follow(op.operands[0], seen, roots);
      return follow(op.operands[1], seen, roots);
    case Op::Select:
      follow(op.operands[1], seen, roots);
      return follow(op.operands[2], seen, roots);
    case Op::For:
      follow(op.operands[position + 3], seen, roots);
      return follow(module_.op(module_.region(op.regions[0]).ops.back()).operands[position], seen,
                    roots);
    case Op::If:
      for (ir::RegionId region : op.regions)
        follow(module_.op(module_.region(region).ops.back()).operands[position], seen, roots);
      return;
    default:
      roots.unknown = true;
  }
}

}  // namespace tilewright::schedule
