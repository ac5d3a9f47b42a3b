// Sources of values, and ops that move elements without computing.
#include <algorithm>

#include "codegen/interp/machine.h"
#include "dsl/base/check.h"

namespace tilewright::interp {
namespace {

// Fills the result by asking, for each index of it, which element of the operand goes there.
template <class SourceIndex>
Tile rearrange(const Tile& from, const ir::Shape& shape, SourceIndex source_index) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  Tile tile(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    tile[static_cast<size_t>(i)] = from[static_cast<size_t>(source_index(unflatten(i, shape)))];
  return tile;
}

uint64_t constant_bits(const ir::OpNode& op, const ir::Type& type) {
  const ir::AttrValue* value = op.attrs.find("value");
  TW_CHECK(value != nullptr, "const without a value");
  if (const auto* integer = std::get_if<int64_t>(value)) {
    if (type.is_pointer) return static_cast<uint64_t>(*integer);
    return is_int(type.dtype) ? int_to_bits(*integer, type.dtype)
                              : float_to_bits(static_cast<double>(*integer), type.dtype);
  }
  return float_to_bits(std::get<double>(*value), type.dtype);
}

}  // namespace

Status run_Const(Machine& machine, const ir::OpNode& op) {
  const ir::Type& type = machine.type(op.results[0]);
  machine.set_result(op, Tile(static_cast<size_t>(type.element_count()), constant_bits(op, type)));
  return {};
}

Status run_ProgramId(Machine& machine, const ir::OpNode& op) {
  machine.set_result(op, {machine.program(static_cast<int>(op.attrs.get_int("axis")))});
  return {};
}

Status run_NumPrograms(Machine& machine, const ir::OpNode& op) {
  machine.set_result(op, {machine.grid(static_cast<int>(op.attrs.get_int("axis")))});
  return {};
}

Status run_Arange(Machine& machine, const ir::OpNode& op) {
  int64_t start = op.attrs.get_int("start"), end = op.attrs.get_int("end");
  Tile tile;
  for (int64_t i = start; i < end; ++i) tile.push_back(int_to_bits(i, Dtype::kI32));
  machine.set_result(op, std::move(tile));
  return {};
}

Status run_Splat(Machine& machine, const ir::OpNode& op) {
  auto count = static_cast<size_t>(machine.type(op.results[0]).element_count());
  machine.set_result(op, Tile(count, machine.scalar(op.operands[0])));
  return {};
}

Status run_Broadcast(Machine& machine, const ir::OpNode& op) {
  const ir::Shape& from = machine.type(op.operands[0]).shape;
  auto source = [&](std::vector<int64_t> index) {
    for (size_t d = 0; d < from.size(); ++d)
      if (from[d] == 1) index[d] = 0;
    return flatten(index, from);
  };
  machine.set_result(
      op, rearrange(machine.get(op.operands[0]), machine.type(op.results[0]).shape, source));
  return {};
}

// Row-major order is unchanged by a unit dimension, and by reshape. reorder=1 allows any order;
// the interpreter keeps the row-major one.
Status run_ExpandDims(Machine& machine, const ir::OpNode& op) {
  machine.set_result(op, machine.get(op.operands[0]));
  return {};
}

Status run_Reshape(Machine& machine, const ir::OpNode& op) {
  machine.set_result(op, machine.get(op.operands[0]));
  return {};
}

Status run_Permute(Machine& machine, const ir::OpNode& op) {
  std::vector<int64_t> order = op.attrs.get_list("order");
  const ir::Shape& from = machine.type(op.operands[0]).shape;
  auto source = [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> original(index.size());
    for (size_t d = 0; d < index.size(); ++d) original[static_cast<size_t>(order[d])] = index[d];
    return flatten(original, from);
  };
  machine.set_result(
      op, rearrange(machine.get(op.operands[0]), machine.type(op.results[0]).shape, source));
  return {};
}

Status run_Join(Machine& machine, const ir::OpNode& op) {
  const Tile& a = machine.get(op.operands[0]);
  const Tile& b = machine.get(op.operands[1]);
  Tile tile;
  for (size_t i = 0; i < a.size(); ++i) {
    tile.push_back(a[i]);
    tile.push_back(b[i]);
  }
  machine.set_result(op, std::move(tile));
  return {};
}

Status run_Split(Machine& machine, const ir::OpNode& op) {
  const Tile& x = machine.get(op.operands[0]);
  Tile lo, hi;
  for (size_t i = 0; i < x.size(); i += 2) {
    lo.push_back(x[i]);
    hi.push_back(x[i + 1]);
  }
  machine.set(op.results[0], std::move(lo));
  machine.set(op.results[1], std::move(hi));
  return {};
}

Status run_Cat(Machine& machine, const ir::OpNode& op) {
  const Tile& a = machine.get(op.operands[0]);
  const Tile& b = machine.get(op.operands[1]);
  const ir::Shape& shape = machine.type(op.operands[0]).shape;
  int64_t axis = op.attrs.get_int("axis");
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  // Elements of one operand that are contiguous in the result.
  size_t run = static_cast<size_t>(strides_of(shape)[static_cast<size_t>(axis)] *
                                   shape[static_cast<size_t>(axis)]);
  Tile tile;
  for (size_t i = 0; i < a.size(); i += run) {
    tile.insert(tile.end(), a.begin() + static_cast<long>(i),
                a.begin() + static_cast<long>(i + run));
    tile.insert(tile.end(), b.begin() + static_cast<long>(i),
                b.begin() + static_cast<long>(i + run));
  }
  machine.set_result(op, std::move(tile));
  return {};
}

}  // namespace tilewright::interp
