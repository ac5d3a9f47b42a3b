// Where the elements of a tile lie in the slots of a buffer. The one who writes decides the order
// of dimensions (rows of consecutive addresses stay rows), the most important reader the swizzle:
// the one in the innermost loop, dots first.
#include <algorithm>

#include "codegen/cuda/assign_layouts.h"
#include "codegen/cuda/emit_buffers.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {

using ir::Op;
using ir::OpId;
using ir::ValueId;
using layout::LinearLayout;

namespace {

bool keeps_elements(const ir::OpNode& op) {
  return op.op == Op::Permute || op.op == Op::Reshape || op.op == Op::ExpandDims ||
         op.op == Op::Broadcast || op.op == Op::Join || op.op == Op::Cat || op.op == Op::Split ||
         ir::op_info(op.op).family == ir::Family::kElementwise;
}

// The first op that fills the buffer.
OpId writer_of(const Assigner& assigner, ValueId buffer) {
  for (OpId id : assigner.order) {
    const ir::OpNode& op = assigner.module.op(id);
    if ((op.op == Op::CopyAsync || op.op == Op::SharedStore) && op.operands[0] == buffer) return id;
  }
  return {};
}

// Dimensions by the register bits that run along them, then the last ones first.
std::vector<int> register_order(const LinearLayout& layout) {
  int rank = static_cast<int>(layout.shape.size());
  std::vector<int> order;
  std::vector<uint32_t> bases = layout.reg;
  bases.insert(bases.end(), layout.lane.begin(), layout.lane.end());
  for (uint32_t basis : bases)
    for (int d = rank; d-- > 0;)
      if ((layout::axis_mask(layout.shape, d) & basis) && std::ranges::count(order, d) == 0)
        order.push_back(d);
  for (int d = rank; d-- > 0;)
    if (std::ranges::count(order, d) == 0) order.push_back(d);
  return order;
}

std::vector<int> buffer_order(const Assigner& assigner, ValueId buffer) {
  const ir::Type tile = assigner.module.type(buffer).slot();
  OpId writer = writer_of(assigner, buffer);
  if (writer.valid()) {
    auto found = assigner.access_orders.find(writer);
    if (found != assigner.access_orders.end()) return found->second;
    ValueId value = assigner.module.op(writer).operands[2];
    if (assigner.module.op(writer).op == Op::SharedStore)
      return register_order(assigner.result.values[value.index]);
  }
  std::vector<int> order;
  for (int d = tile.rank(); d-- > 0;) order.push_back(d);
  return order;
}

int loops_around(const ir::Module& module, OpId id) {
  int depth = 0;
  for (OpId at = module.region(module.op(id).parent).parent; at.valid();
       at = module.region(module.op(at).parent).parent)
    depth += module.op(at).op == Op::For || module.op(at).op == Op::While;
  return depth;
}

}  // namespace

bool feeds_dot(const ir::Module& module, ValueId tile) {
  std::set<ValueId> reached = {tile};
  bool found = false;
  ir::walk(module, module.body, [&](OpId id) {
    const ir::OpNode& op = module.op(id);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!reached.contains(op.operands[i])) continue;
      found = found || (op.op == Op::Dot && i != 2);
      if (keeps_elements(op)) reached.insert(op.results.begin(), op.results.end());
    }
  });
  return found;
}

bool is_broadcast_beside_dot(const ir::Module& module, OpId shared_load) {
  const ir::OpNode& load = module.op(shared_load);
  if (module.type(load.results[0]).rank() != 1) return false;
  std::set<ValueId> reached = {load.results[0]};
  bool broadcast = false, beside = false;
  for (OpId id : module.region(load.parent).ops) {
    const ir::OpNode& op = module.op(id);
    beside = beside || op.op == Op::Dot;
    for (ValueId operand : op.operands) {
      if (!reached.contains(operand)) continue;
      broadcast = broadcast || op.op == Op::ExpandDims;
      if (ir::op_info(op.op).family == ir::Family::kElementwise) reached.insert(op.results[0]);
    }
  }
  return broadcast && beside;
}

std::optional<LinearLayout> writer_layout(Assigner& assigner, OpId shared_load) {
  OpId writer = writer_of(assigner, assigner.module.op(shared_load).operands[0]);
  if (!writer.valid()) return std::nullopt;
  const ir::OpNode& op = assigner.module.op(writer);
  if (op.op == Op::SharedStore) return assigner.state(op.operands[2]).layout;
  auto found = assigner.coalesced.find(writer);
  return found == assigner.coalesced.end() ? std::nullopt : std::optional(found->second);
}

void settle_buffers(Assigner& assigner) {
  const ir::Module& module = assigner.module;
  LayoutAssignment& result = assigner.result;
  struct Reader {
    OpId load;
    int weight = -1;
  };
  std::map<ValueId, Reader> readers;
  std::vector<ValueId> buffers;
  ir::walk(module, module.body, [&](OpId id) {
    const ir::OpNode& op = module.op(id);
    if (op.op == Op::SharedAlloc) buffers.push_back(op.results[0]);
    if (op.op != Op::SharedLoad) return;
    bool lazy = is_lazy_load(module, result.dots, op.results[0]);
    if (lazy) result.lazy_loads.insert(id);
    int weight = 2 * loops_around(module, id) + (lazy ? 1 : 0);
    Reader& reader = readers[op.operands[0]];
    if (weight > reader.weight) reader = {id, weight};
  });
  for (ValueId buffer : buffers) {
    ir::Type tile = module.type(buffer).slot();
    layout::SharedLayout shared =
        layout::row_major(tile.shape, tile.element_bytes(), buffer_order(assigner, buffer));
    if (auto reader = readers.find(buffer); reader != readers.end()) {
      ValueId read = module.op(reader->second.load).results[0];
      shared = layout::swizzled_for(shared, result.values[read.index],
                                    {.ldmatrix = assigner.target.has_ldmatrix});
    }
    result.buffers[buffer] = std::move(shared);
  }
}

}  // namespace tilewright::cuda
