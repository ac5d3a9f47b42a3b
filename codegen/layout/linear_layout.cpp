#include "codegen/layout/linear_layout.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "codegen/layout/f2.h"
#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

using Bases = std::vector<uint32_t> LinearLayout::*;
constexpr Bases kInputs[] = {&LinearLayout::reg, &LinearLayout::lane, &LinearLayout::warp};

int log2_exact(int64_t value) {
  TW_CHECK(value > 0 && (value & (value - 1)) == 0, "not a power of two");
  return std::countr_zero(static_cast<uint64_t>(value));
}

template <class Function>
void transform_bases(LinearLayout& layout, Function function) {
  for (Bases input : kInputs)
    for (uint32_t& basis : layout.*input) basis = function(basis);
}

// Removes the register bits for which the basis is zero.
void drop_replicated_registers(LinearLayout& layout) {
  std::erase(layout.reg, 0u);
}

// Moves bit i of a flat index to position to[i]; -1 drops it.
uint32_t move_bits(uint32_t index, const std::vector<int>& to) {
  uint32_t moved = 0;
  for (size_t i = 0; i < to.size(); ++i)
    if ((index >> i & 1) && to[i] >= 0) moved |= 1u << to[i];
  return moved;
}

// For `permute`: where each bit of the operand's flat index goes.
std::vector<int> permuted_bits(const Shape& shape, const std::vector<int>& order,
                               const Shape& result) {
  std::vector<int> to(index_bits(shape), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    int from_shift = axis_shift(shape, order[i]);
    int to_shift = axis_shift(result, static_cast<int>(i));
    for (int b = 0; b < log2_exact(shape[order[i]]); ++b) to[from_shift + b] = to_shift + b;
  }
  return to;
}

}  // namespace

uint32_t LinearLayout::element(uint32_t r, uint32_t l, uint32_t w) const {
  return f2::apply(reg, r) ^ f2::apply(lane, l) ^ f2::apply(warp, w);
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

int index_bits(const Shape& shape) {
  return log2_exact(element_count(shape));
}

int axis_shift(const Shape& shape, int axis) {
  TW_CHECK(axis >= 0 && axis < static_cast<int>(shape.size()), "axis out of range");
  int shift = 0;
  for (size_t i = axis + 1; i < shape.size(); ++i) shift += log2_exact(shape[i]);
  return shift;
}

uint32_t axis_mask(const Shape& shape, int axis) {
  return static_cast<uint32_t>(shape[axis] - 1) << axis_shift(shape, axis);
}

bool covers(const LinearLayout& layout) {
  f2::Span span;
  for (Bases input : kInputs)
    for (uint32_t basis : layout.*input) span.insert(basis);
  return span.rank() == index_bits(layout.shape);
}

std::string to_string(const LinearLayout& layout) {
  auto list = [](const auto& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(values[i]);
    return text + "]";
  };
  return "reg=" + list(layout.reg) + " lane=" + list(layout.lane) + " warp=" + list(layout.warp) +
         " shape=" + list(layout.shape);
}

ReplicationMask replication_mask(const LinearLayout& layout) {
  f2::Span span;
  auto copies = [&span](const std::vector<uint32_t>& bases) {
    uint32_t mask = 0;
    for (size_t i = 0; i < bases.size(); ++i)
      if (!span.insert(bases[i])) mask |= 1u << i;
    return mask;
  };
  ReplicationMask mask;
  mask.reg = copies(layout.reg);
  mask.lane = copies(layout.lane);
  mask.warp = copies(layout.warp);
  return mask;
}

LinearLayout replicated(const Shape& shape, int warps) {
  TW_CHECK(element_count(shape) == 1, "only tiles of one element have one register everywhere");
  LinearLayout layout;
  layout.shape = shape;
  layout.lane.assign(kLaneBits, 0);
  layout.warp.assign(log2_exact(warps), 0);
  return layout;
}

LinearLayout blocked(const Shape& shape, int warps, const std::vector<int>& order, int vector) {
  TW_CHECK(order.size() == shape.size(), "order must list every dimension");
  std::vector<uint32_t> bits;  // index bits, fastest varying first
  for (int axis : order)
    for (int b = 0; b < log2_exact(shape[axis]); ++b)
      bits.push_back(1u << (axis_shift(shape, axis) + b));
  LinearLayout layout;
  layout.shape = shape;
  size_t next = 0;
  int vector_bits = log2_exact(vector);
  if (!order.empty()) vector_bits = std::min(vector_bits, log2_exact(shape[order[0]]));
  auto take = [&] { return next < bits.size() ? bits[next++] : 0u; };
  for (int i = 0; i < vector_bits && next < bits.size(); ++i) layout.reg.push_back(take());
  for (int i = 0; i < kLaneBits; ++i) layout.lane.push_back(take());
  for (int i = 0; i < log2_exact(warps); ++i) layout.warp.push_back(take());
  while (next < bits.size()) layout.reg.push_back(take());
  return layout;
}

LinearLayout expand_dims(const LinearLayout& layout, int axis) {
  LinearLayout result = layout;
  result.shape.insert(result.shape.begin() + axis, 1);
  return result;
}

LinearLayout squeeze(const LinearLayout& layout, int axis) {
  TW_CHECK(layout.shape.at(axis) == 1, "only a dimension of extent 1 can be squeezed");
  LinearLayout result = layout;
  result.shape.erase(result.shape.begin() + axis);
  return result;
}

LinearLayout permute(const LinearLayout& layout, const std::vector<int>& order) {
  TW_CHECK(order.size() == layout.shape.size(), "order must list every dimension");
  LinearLayout result = layout;
  for (size_t i = 0; i < order.size(); ++i) result.shape[i] = layout.shape[order[i]];
  std::vector<int> to = permuted_bits(layout.shape, order, result.shape);
  transform_bases(result, [&](uint32_t basis) { return move_bits(basis, to); });
  return result;
}

LinearLayout unpermute(const LinearLayout& layout, const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return permute(layout, inverse);
}

LinearLayout reshape(const LinearLayout& layout, const Shape& shape) {
  TW_CHECK(element_count(shape) == element_count(layout.shape), "reshape changes the size");
  LinearLayout result = layout;
  result.shape = shape;
  return result;
}

LinearLayout drop_dim(const LinearLayout& layout, int axis) {
  LinearLayout result = layout;
  int low = axis_shift(layout.shape, axis);
  int width = log2_exact(layout.shape[axis]);
  transform_bases(result, [&](uint32_t basis) {
    uint32_t below = basis & ((1u << low) - 1);
    return below | (static_cast<uint32_t>(static_cast<uint64_t>(basis) >> (low + width)) << low);
  });
  result.shape.erase(result.shape.begin() + axis);
  drop_replicated_registers(result);
  return result;
}

namespace {

// Projects a broadcast result's bases onto the operand's shape, zero registers kept.
LinearLayout project_broadcast(const LinearLayout& layout, const Shape& from) {
  TW_CHECK(from.size() == layout.shape.size(), "broadcast keeps the rank");
  std::vector<int> to(index_bits(layout.shape), -1);
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) continue;
    TW_CHECK(from[axis] == layout.shape[axis], "broadcast stretches unit dimensions only");
    int from_shift = axis_shift(layout.shape, static_cast<int>(axis));
    int to_shift = axis_shift(from, static_cast<int>(axis));
    for (int b = 0; b < log2_exact(from[axis]); ++b) to[from_shift + b] = to_shift + b;
  }
  LinearLayout result = layout;
  result.shape = from;
  transform_bases(result, [&](uint32_t basis) { return move_bits(basis, to); });
  return result;
}

}  // namespace

LinearLayout broadcast_source(const LinearLayout& layout, const Shape& from) {
  LinearLayout result = project_broadcast(layout, from);
  drop_replicated_registers(result);
  return result;
}

std::vector<int> broadcast_registers(const LinearLayout& layout, const Shape& from) {
  LinearLayout projected = project_broadcast(layout, from);
  std::vector<uint32_t> columns;  // register number in the source, by register bit of the result
  for (uint32_t basis : projected.reg)
    columns.push_back(basis == 0 ? 0u : 1u << std::ranges::count_if(columns, std::identity{}));
  std::vector<int> source(layout.registers());
  for (size_t r = 0; r < source.size(); ++r)
    source[r] = static_cast<int>(f2::apply(columns, static_cast<uint32_t>(r)));
  return source;
}

LinearLayout join(const LinearLayout& layout) {
  LinearLayout result = layout;
  result.shape.push_back(2);
  transform_bases(result, [](uint32_t basis) { return basis << 1; });
  result.reg.insert(result.reg.begin(), 1u);
  return result;
}

LinearLayout cat(const LinearLayout& layout, int axis) {
  LinearLayout result = layout;
  result.shape.at(axis) *= 2;
  int top = axis_shift(layout.shape, axis) + log2_exact(layout.shape[axis]);
  transform_bases(result, [&](uint32_t basis) {
    uint32_t below = basis & ((1u << top) - 1);
    return below | (static_cast<uint32_t>(static_cast<uint64_t>(basis) >> top) << (top + 1));
  });
  result.reg.push_back(1u << top);
  return result;
}

LinearLayout unjoin(const LinearLayout& joined) {
  TW_CHECK(joined.shape.back() == 2 && !joined.reg.empty() && joined.reg[0] == 1,
           "not the layout of a join: " + to_string(joined));
  return drop_dim(joined, static_cast<int>(joined.shape.size()) - 1);
}

LinearLayout uncat(const LinearLayout& both, int axis) {
  int top = axis_shift(both.shape, axis) + log2_exact(both.shape.at(axis)) - 1;
  TW_CHECK(!both.reg.empty() && both.reg.back() == 1u << top,
           "not the layout of a cat: " + to_string(both));
  LinearLayout result = both;
  result.reg.pop_back();
  result.shape[axis] /= 2;
  transform_bases(result, [&](uint32_t basis) {
    return (basis & ((1u << top) - 1)) | basis >> (top + 1) << top;
  });
  return result;
}

ReductionPlan plan_reduction(const LinearLayout& layout, int axis) {
  uint32_t inside = axis_mask(layout.shape, axis);
  auto along = [&](uint32_t basis) {
    TW_CHECK((basis & inside) == 0 || (basis & ~inside) == 0,
             "a basis mixes the reduced dimension with others: " + to_string(layout));
    return (basis & inside) != 0;
  };
  ReductionPlan plan;
  std::vector<uint32_t> keep, fold;  // register bits
  for (size_t i = 0; i < layout.reg.size(); ++i) {
    if (layout.reg[i] == 0) continue;
    (along(layout.reg[i]) ? fold : keep).push_back(1u << i);
  }
  plan.registers.resize(size_t{1} << keep.size());
  for (size_t k = 0; k < plan.registers.size(); ++k)
    for (size_t f = 0; f < size_t{1} << fold.size(); ++f)
      plan.registers[k].push_back(static_cast<int>(f2::apply(keep, static_cast<uint32_t>(k)) |
                                                   f2::apply(fold, static_cast<uint32_t>(f))));
  for (size_t i = 0; i < layout.lane.size(); ++i)
    if (along(layout.lane[i])) plan.lane_bits.push_back(static_cast<int>(i));
  for (size_t i = 0; i < layout.warp.size(); ++i)
    if (along(layout.warp[i])) plan.warp_bits.push_back(static_cast<int>(i));
  return plan;
}

}  // namespace tilewright::layout
