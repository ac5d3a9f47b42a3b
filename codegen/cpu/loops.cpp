// Loops over the chunks of a tile, and the index arithmetic they need.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

I64 Emitter::add(const I64& a, const I64& b) {
  if (a.is_constant() && b.is_constant()) return {a.constant + b.constant, {}};
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  return {0, text.let(fmt::format("add nuw nsw i64 {}, {}", a.text(), b.text()))};
}

I64 Emitter::multiply(const I64& a, int64_t factor) {
  if (a.is_constant()) return {a.constant * factor, {}};
  if (factor == 1) return a;
  if (factor == 0) return {};
  return {0, text.let(fmt::format("mul nuw nsw i64 {}, {}", a.text(), factor))};
}

I64 Emitter::shift_right(const I64& a, int64_t divisor) {
  if (a.is_constant()) return {a.constant / divisor, {}};
  if (divisor == 1) return a;
  int shift = std::countr_zero(static_cast<uint64_t>(divisor));
  return {0, text.let(fmt::format("lshr i64 {}, {}", a.text(), shift))};
}

I64 Emitter::low_bits(const I64& a, int64_t modulus) {
  if (a.is_constant()) return {a.constant % modulus, {}};
  if (modulus == 1) return {};
  return {0, text.let(fmt::format("and i64 {}, {}", a.text(), modulus - 1))};
}

Emitter::Loop Emitter::begin_loop(int64_t bound, int64_t step) {
  Loop loop;
  loop.step = step;
  loop.bound = bound;
  if (step >= bound) return loop;
  loop.header = text.fresh_label("loop");
  loop.latch = text.fresh_label("next");
  loop.exit = text.fresh_label("done");
  loop.index.name = text.fresh();
  loop.next = text.fresh();
  std::string before = text.current_block();
  text.branch(loop.header);
  text.start_block(loop.header);
  text.let_as(loop.index.name,
              fmt::format("phi i64 [ 0, %{} ], [ {}, %{} ]", before, loop.next, loop.latch));
  return loop;
}

void Emitter::end_loop(const Loop& loop) {
  if (loop.header.empty()) return;
  text.branch(loop.latch);
  text.start_block(loop.latch);
  text.let_as(loop.next, fmt::format("add nuw nsw i64 {}, {}", loop.index.name, loop.step));
  std::string more = text.let(fmt::format("icmp ult i64 {}, {}", loop.next, loop.bound));
  text.branch_if(more, loop.header, loop.exit);
  text.start_block(loop.exit);
}

// Lanes run along one dimension. Only where that has less than four elements do they go on into the
// next one: chunks of several rows rarely are contiguous in memory.
Emitter::Chunking Emitter::begin_chunks(const ir::Shape& shape, int width, int lane_dim) {
  constexpr int64_t kShortRow = 4;
  int64_t count = 1, row = 1;
  std::vector<size_t> order;  // dimensions, innermost first
  if (lane_dim != kInnermost) order.push_back(static_cast<size_t>(lane_dim));
  for (size_t d = shape.size(); d-- > 0;)
    if (static_cast<int>(d) != lane_dim) order.push_back(d);
  for (size_t d : order) {
    if (row == 1) row = shape[d];
    count *= shape[d];
  }
  Chunking out;
  out.index.width = static_cast<int>(std::min<int64_t>(width, row >= kShortRow ? row : count));
  out.index.dims.resize(shape.size());
  std::vector<int64_t> steps(shape.size(), 1);
  int64_t inner = 1;  // lanes used by the dimensions further in
  for (size_t d : order) {
    int64_t take = std::min(shape[d], out.index.width / inner);
    steps[d] = take;
    if (take > 1)
      for (int l = 0; l < out.index.width; ++l)
        out.index.dims[d].offsets.push_back(l / inner % take);
    inner *= take;
  }
  for (size_t i = order.size(); i-- > 0;) {
    size_t d = order[i];
    if (steps[d] == shape[d]) continue;
    out.loops.push_back(begin_loop(shape[d], steps[d]));
    out.index.dims[d].base = out.loops.back().index;
  }
  out.outer_values.swap(values_);
  return out;
}

int Emitter::lane_dim_of_pointers(ir::ValueId pointers) const {
  constexpr int64_t kWorthIt = 4;
  const analysis::AxisInfo& info = axes_[pointers.index];
  const ir::Shape& shape = type(pointers).shape;
  int best = kInnermost;
  int64_t longest = kWorthIt - 1;
  bool innermost = true;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    int64_t run = d < info.contiguity.size() ? info.contiguity[d] : 1;
    if (innermost && run >= std::min(shape[d], kWorthIt)) return kInnermost;
    innermost = false;
    if (run <= longest) continue;
    longest = run;
    best = static_cast<int>(d);
  }
  return best;
}

int Emitter::lane_dim_of(ir::ValueId value) const {
  return plan_.of(value) == Plan::How::kLazy ? lane_dim_of_definition(value) : kInnermost;
}

int Emitter::lane_dim_of_definition(ir::ValueId value) const {
  const ir::OpNode* def = module.def(value);
  if (!def) return kInnermost;
  if (def->op == ir::Op::Load) return lane_dim_of_pointers(def->operands[0]);
  if (def->op == ir::Op::Permute) {
    int source = lane_dim_of(def->operands[0]);
    std::vector<int64_t> order = def->attrs.get_list("order");
    for (size_t d = 0; d < order.size(); ++d)
      if (order[d] == source) return static_cast<int>(d);
    return kInnermost;
  }
  if (ir::op_info(def->op).family != ir::Family::kElementwise) return kInnermost;
  for (ir::ValueId operand : def->operands)
    if (int dim = lane_dim_of(operand); dim != kInnermost) return dim;
  return kInnermost;
}

void Emitter::end_chunks(Chunking& chunking) {
  for (auto loop = chunking.loops.rbegin(); loop != chunking.loops.rend(); ++loop) end_loop(*loop);
  values_.swap(chunking.outer_values);
}

}  // namespace tilewright::cpu
