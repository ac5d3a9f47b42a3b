// Sources of values and ops that move elements: both only rearrange the index.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::cpu {

using ir::Op;

std::string constant_text(const ir::OpNode& op, const ir::Type& type) {
  const ir::AttrValue* value = op.attrs.find("value");
  TW_CHECK(value != nullptr, "const without a value");
  const auto* integer = std::get_if<int64_t>(value);
  if (type.is_pointer)
    return *integer == 0 ? "null" : fmt::format("inttoptr (i64 {} to ptr)", *integer);
  double number = integer ? static_cast<double>(*integer) : std::get<double>(*value);
  switch (type.dtype) {
    case Dtype::kI1:
      return int_to_bits(*integer, type.dtype) ? "true" : "false";
    case Dtype::kF32:
      return float_constant(static_cast<double>(static_cast<float>(number)));
    case Dtype::kF64:
      return float_constant(number);
    default:
      break;
  }
  if (is_float(type.dtype)) return std::to_string(float_to_bits(number, type.dtype));
  // Written as the signed number of that width, whatever the type's signedness.
  int width = dtype_bits(type.dtype);
  uint64_t bits = int_to_bits(*integer, type.dtype);
  if (width < 64 && (bits >> (width - 1)) & 1) bits |= ~((uint64_t{1} << width) - 1);
  return std::to_string(static_cast<int64_t>(bits));
}

namespace {

bool all_zero(const std::vector<int64_t>& offsets) {
  return std::all_of(offsets.begin(), offsets.end(), [](int64_t o) { return o == 0; });
}

DimIndex normalized(DimIndex dim) {
  if (all_zero(dim.offsets)) dim.offsets.clear();
  return dim;
}

// Dimensions [begin, end) of a shape as one index.
DimIndex merge_dims(Emitter& e, const Index& index, const ir::Shape& shape, size_t begin,
                    size_t end) {
  DimIndex out;
  out.offsets.assign(static_cast<size_t>(index.width), 0);
  int64_t stride = 1;
  for (size_t d = end; d-- > begin;) {
    out.base = e.add(out.base, e.multiply(index.dims[d].base, stride));
    for (size_t l = 0; l < out.offsets.size(); ++l)
      out.offsets[l] += index.dims[d].offset(l) * stride;
    stride *= shape[d];
  }
  return normalized(out);
}

// One index as dimensions [begin, end) of a shape, appended to `out`.
void split_dims(Emitter& e, const DimIndex& whole, const ir::Shape& shape, size_t begin, size_t end,
                Index& out) {
  int64_t stride = 1;
  for (size_t d = begin + 1; d < end; ++d) stride *= shape[d];
  for (size_t d = begin; d < end; ++d) {
    DimIndex dim;
    dim.base = e.low_bits(e.shift_right(whole.base, stride), shape[d]);
    for (int64_t offset : whole.offsets) dim.offsets.push_back(offset / stride % shape[d]);
    out.dims.push_back(normalized(dim));
    if (d + 1 < end) stride /= shape[d + 1];
  }
}

// The index into `to` of the element that index names in `from`. Runs of dimensions with equal
// products correspond; inside a run of several, the bits are regrouped.
Index reshape_index(Emitter& e, const Index& index, const ir::Shape& from, const ir::Shape& to) {
  Index out;
  out.width = index.width;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t i0 = i, j0 = j;
    int64_t p = i < from.size() ? from[i++] : 1, q = j < to.size() ? to[j++] : 1;
    while (p != q) {
      if (p < q)
        p *= from[i++];
      else
        q *= to[j++];
    }
    if (i - i0 == 1 && j - j0 == 1)
      out.dims.push_back(index.dims[i0]);
    else
      split_dims(e, merge_dims(e, index, from, i0, i), to, j0, j, out);
  }
  return out;
}

// Lanes where `bit` of the dimension's index is set take b, the others a.
Lanes choose(Emitter& e, const DimIndex& dim, int64_t bit, const Lanes& a, const Lanes& b,
             const ir::Type& type, int width) {
  std::vector<int64_t> wants_b;
  for (size_t l = 0; l < static_cast<size_t>(width); ++l)
    wants_b.push_back((dim.offset(l) & bit) != 0);
  bool in_lanes = !all_zero(wants_b);
  if (!in_lanes && dim.base.is_constant()) return (dim.base.constant & bit) != 0 ? b : a;
  std::string element = register_type(type);
  std::string vector = vector_type(element, width);
  std::string from_a = e.vector(a, type, width), from_b = e.vector(b, type, width);
  std::string condition, condition_type = "i1";
  if (in_lanes) {
    condition_type = vector_type("i1", width);
    condition = vector_constant("i1", wants_b);
  } else {
    std::string masked = e.text.let(fmt::format("and i64 {}, {}", dim.base.text(), bit));
    condition = e.text.let(fmt::format("icmp ne i64 {}, 0", masked));
  }
  std::string chosen = e.text.let(fmt::format("select {} {}, {} {}, {} {}", condition_type,
                                              condition, vector, from_b, vector, from_a));
  return width == 1 ? Lanes::uniform(chosen) : Lanes::of_vector(chosen);
}

Lanes arange_lanes(Emitter& e, const ir::OpNode& op, const Index& index) {
  const DimIndex& dim = index.dims[0];
  I64 base = e.add(dim.base, I64{op.attrs.get_int("start"), {}});
  std::string scalar = base.is_constant()
                           ? base.text()
                           : e.text.let(fmt::format("trunc i64 {} to i32", base.text()));
  return {scalar, {}, dim.offsets, {}};
}

Lanes join_lanes(Emitter& e, const ir::OpNode& op, const Index& index) {
  Index inner = index;
  DimIndex last = inner.dims.back();
  inner.dims.pop_back();
  Lanes a = e.lanes(op.operands[0], inner), b = e.lanes(op.operands[1], inner);
  return choose(e, last, 1, a, b, e.type(op.operands[0]), index.width);
}

Lanes cat_lanes(Emitter& e, const ir::OpNode& op, const Index& index) {
  auto axis = static_cast<size_t>(op.attrs.get_int("axis"));
  int64_t extent = e.type(op.operands[0]).shape[axis];
  Index inner = index;
  DimIndex& dim = inner.dims[axis];
  dim.base = e.low_bits(dim.base, extent);
  for (int64_t& offset : dim.offsets) offset %= extent;
  dim = normalized(dim);
  Lanes a = e.lanes(op.operands[0], inner), b = e.lanes(op.operands[1], inner);
  return choose(e, index.dims[axis], extent, a, b, e.type(op.operands[0]), index.width);
}

Index broadcast_index(const Index& index, const ir::Shape& from) {
  Index out = index;
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) out.dims[d] = {};
  return out;
}

Index permute_index(const ir::OpNode& op, const Index& index) {
  Index out = index;
  std::vector<int64_t> order = op.attrs.get_list("order");
  for (size_t i = 0; i < order.size(); ++i) out.dims[static_cast<size_t>(order[i])] = index.dims[i];
  return out;
}

Index split_index(size_t result, const Index& index) {
  Index out = index;
  out.dims.push_back({I64{static_cast<int64_t>(result), {}}, {}});
  return out;
}

Index expand_index(const ir::OpNode& op, const Index& index) {
  Index out = index;
  out.dims.erase(out.dims.begin() + op.attrs.get_int("axis"));
  return out;
}

}  // namespace

Lanes shape_lanes(Emitter& e, const ir::OpNode& op, size_t result, const Index& index) {
  switch (op.op) {
    case Op::Const:
      return Lanes::uniform(constant_text(op, e.type(op.results[0])));
    case Op::ProgramId:
      return Lanes::uniform(e.program_id(op.attrs.get_int("axis")));
    case Op::NumPrograms:
      return Lanes::uniform(e.num_programs(op.attrs.get_int("axis")));
    case Op::Arange:
      return arange_lanes(e, op, index);
    case Op::Splat:
      return Lanes::uniform(e.scalar(op.operands[0]));
    case Op::Hint:
      return e.lanes(op.operands[0], index);
    case Op::Broadcast:
      return e.lanes(op.operands[0], broadcast_index(index, e.type(op.operands[0]).shape));
    case Op::ExpandDims:
      if (e.type(op.operands[0]).is_scalar()) return Lanes::uniform(e.scalar(op.operands[0]));
      return e.lanes(op.operands[0], expand_index(op, index));
    case Op::Reshape:
      if (e.type(op.operands[0]).is_scalar()) return Lanes::uniform(e.scalar(op.operands[0]));
      return e.lanes(op.operands[0], reshape_index(e, index, e.type(op.results[0]).shape,
                                                   e.type(op.operands[0]).shape));
    case Op::Permute:
      return e.lanes(op.operands[0], permute_index(op, index));
    case Op::Join:
      return join_lanes(e, op, index);
    case Op::Split:
      return e.lanes(op.operands[0], split_index(result, index));
    case Op::Cat:
      return cat_lanes(e, op, index);
    default:
      break;
  }
  TW_UNREACHABLE(std::string(ir::op_info(op.op).mnemonic) + " is no source or shape op");
}

}  // namespace tilewright::cpu
