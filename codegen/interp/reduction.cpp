// Ops that look across the elements of a tile: reduce, scan, gather, histogram. Where the contract
// leaves the grouping free, elements are folded one by one.
#include "codegen/interp/machine.h"

namespace tilewright::interp {
namespace {

// The rows of a tile along an axis: the flat index of element i of row r is first(r) + i * stride.
struct Rows {
  size_t count, extent, stride;

  Rows(const Machine& machine, const ir::OpNode& op) {
    const ir::Type& type = machine.type(op.operands[0]);
    auto axis = static_cast<size_t>(op.attrs.get_int("axis"));
    extent = static_cast<size_t>(type.shape[axis]);
    stride = static_cast<size_t>(strides_of(type.shape)[axis]);
    count = static_cast<size_t>(type.element_count()) / extent;
  }
  // r with the axis put back at index 0.
  size_t first(size_t r) const { return r / stride * stride * extent + r % stride; }
};

// folded = region(folded..., the operands' elements at `index`...)
Status fold_in(Machine& machine, const ir::OpNode& op, std::vector<Tile>& folded, size_t index) {
  for (ir::ValueId operand : op.operands) folded.push_back({machine.get(operand)[index]});
  TW_TRY(machine.run_region(op.regions[0], std::move(folded)));
  folded = machine.take_passed();
  return {};
}

std::vector<Tile> elements(const Machine& machine, const ir::OpNode& op, size_t index) {
  std::vector<Tile> out;
  for (ir::ValueId operand : op.operands) out.push_back({machine.get(operand)[index]});
  return out;
}

}  // namespace

Status run_Reduce(Machine& machine, const ir::OpNode& op) {
  Rows rows(machine, op);
  std::vector<Tile> results(op.operands.size(), Tile(rows.count));
  for (size_t r = 0; r < rows.count; ++r) {
    std::vector<Tile> folded = elements(machine, op, rows.first(r));
    for (size_t i = 1; i < rows.extent; ++i)
      TW_TRY(fold_in(machine, op, folded, rows.first(r) + i * rows.stride));
    for (size_t k = 0; k < results.size(); ++k) results[k][r] = folded[k][0];
  }
  for (size_t k = 0; k < results.size(); ++k) machine.set(op.results[k], std::move(results[k]));
  return {};
}

Status run_Scan(Machine& machine, const ir::OpNode& op) {
  Rows rows(machine, op);
  bool reverse = op.attrs.get_int("reverse", 0) != 0;
  std::vector<Tile> results(op.operands.size(), Tile(rows.count * rows.extent));
  for (size_t r = 0; r < rows.count; ++r) {
    std::vector<Tile> folded;
    for (size_t i = 0; i < rows.extent; ++i) {
      size_t at = rows.first(r) + (reverse ? rows.extent - 1 - i : i) * rows.stride;
      if (i == 0)
        folded = elements(machine, op, at);
      else
        TW_TRY(fold_in(machine, op, folded, at));
      for (size_t k = 0; k < results.size(); ++k) results[k][at] = folded[k][0];
    }
  }
  for (size_t k = 0; k < results.size(); ++k) machine.set(op.results[k], std::move(results[k]));
  return {};
}

Status run_Gather(Machine& machine, const ir::OpNode& op) {
  const Tile &src = machine.get(op.operands[0]), &index = machine.get(op.operands[1]);
  const ir::Shape &from = machine.type(op.operands[0]).shape,
                  &to = machine.type(op.operands[1]).shape;
  Dtype dtype = machine.type(op.operands[1]).dtype;
  auto axis = static_cast<size_t>(op.attrs.get_int("axis"));
  Tile out(index.size());
  for (size_t i = 0; i < out.size(); ++i) {
    std::vector<int64_t> place = unflatten(static_cast<int64_t>(i), to);
    place[axis] = bits_to_int(index[i], dtype);
    bool exists = place[axis] >= 0 && place[axis] < from[axis];
    out[i] = exists ? src[static_cast<size_t>(flatten(place, from))] : 0;
  }
  machine.set_result(op, std::move(out));
  return {};
}

Status run_Histogram(Machine& machine, const ir::OpNode& op) {
  const Tile& x = machine.get(op.operands[0]);
  Dtype dtype = machine.type(op.operands[0]).dtype;
  int64_t bins = op.attrs.get_int("bins");
  Tile counts(static_cast<size_t>(bins));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t bin = bits_to_int(x[i], dtype);
    bool counts_here = op.operands.size() < 2 || machine.get(op.operands[1])[i] != 0;
    if (counts_here && bin >= 0 && bin < bins) ++counts[static_cast<size_t>(bin)];
  }
  machine.set_result(op, std::move(counts));
  return {};
}

}  // namespace tilewright::interp
