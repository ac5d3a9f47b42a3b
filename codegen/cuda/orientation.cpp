#include "codegen/cuda/orientation.h"

#include <algorithm>
#include <set>

#include "codegen/cuda/units.h"
#include "codegen/passes/transpose_dots.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::ValueId;

// The pointers from which a load, or the copies into the slot that is read, take a tile.
ValueId pointers_of(const ir::Module& module, const ir::OpNode& op) {
  if (op.op == Op::Load) return op.operands[0];
  ValueId pointers;
  if (op.op == Op::SharedLoad)
    ir::walk(module, module.body, [&](ir::OpId id) {
      const ir::OpNode& copy = module.op(id);
      if (copy.op == Op::CopyAsync && copy.operands[0] == op.operands[0])
        pointers = copy.operands[2];
    });
  return pointers;
}

// A product of 32-bit operands whose B could take the place of A.
bool is_candidate(const ir::Module& module, const Target& target, const ir::OpNode& dot) {
  if (dot.op != Op::Dot || dot.operands.size() != 3) return false;
  auto unit = find_unit(target, dot_types(module, dot));
  return unit && unit->element_bits() == 32 && unit->instruction.m == 16 &&
         module.type(dot.operands[1]).shape.back() >= unit->instruction.m;
}

}  // namespace

int contiguous_axis(const ir::Module& module, const std::vector<analysis::AxisInfo>& axes,
                    ValueId value) {
  const ir::OpNode* op = module.def(value);
  if (op == nullptr) return -1;
  if (op->op == Op::Permute) {
    int axis = contiguous_axis(module, axes, op->operands[0]);
    std::vector<int64_t> order = op->attrs.get_list("order");
    return axis < 0 ? -1 : static_cast<int>(std::ranges::find(order, axis) - order.begin());
  }
  ValueId pointers = pointers_of(module, *op);
  if (!pointers.valid() || !module.type(pointers).is_tile()) return -1;
  const std::vector<int64_t>& runs = axes[pointers.index].contiguity;
  int longest = 0;  // later dimensions on a tie
  for (int axis = 1; axis < static_cast<int>(runs.size()); ++axis)
    if (runs[static_cast<size_t>(axis)] >= runs[static_cast<size_t>(longest)]) longest = axis;
  return runs[static_cast<size_t>(longest)] > 1 ? longest : -1;
}

void orient_dots(ir::Module& module, const Target& target) {
  if (!target.has_ldmatrix) return;
  std::vector<analysis::AxisInfo> axes;
  std::set<ir::OpId> chosen;
  ir::walk(module, module.body, [&](ir::OpId id) {
    const ir::OpNode& dot = module.op(id);
    if (!is_candidate(module, target, dot)) return;
    if (axes.empty()) axes = analysis::analyze_axes(module);
    int last = module.type(dot.operands[0]).rank() - 1;
    if (contiguous_axis(module, axes, dot.operands[0]) == last &&
        contiguous_axis(module, axes, dot.operands[1]) == last)
      chosen.insert(id);
  });
  passes::transpose_dots(module, chosen);
}

}  // namespace tilewright::cuda
