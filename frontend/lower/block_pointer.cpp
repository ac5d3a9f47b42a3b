// A block pointer is a base, and for each dimension an extent, a stride and an offset. An access
// moves the scalar base by the offsets and adds the tile's own pattern, which does not change in a
// loop:
//
//   p    = base + sum(offset[d] * stride[d])           scalar, int64
//   ptr  = p + sum(arange(block[d]) * stride[d])       tile
//   mask = all of 0 <= offset[d] + arange(block[d]) < shape[d], for the checked dimensions
#include "frontend/lower/block_pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

namespace {

// The scalars of a shape, strides or offsets argument; `wide` makes them int64, else constants
// are int32.
std::optional<std::vector<ir::ValueId>> scalars(Lowering& lw, const Call& call, size_t index,
                                                bool wide) {
  const Value& list = call.args[index];
  std::vector<Value> values;
  if (list.kind == Kind::kTuple)
    values = list.elements;
  else
    values = {list};
  std::vector<ir::ValueId> out;
  for (const Value& value : values) {
    Value scalar;
    if (value.is_integer()) {
      bool long_offset = !wide && dtype_bits(lw.number_dtype(value.constant)) > 32;
      Dtype dtype = wide || long_offset ? Dtype::kI64 : Dtype::kI32;
      scalar = lw.constant_of(value.constant, ir::Type::scalar(dtype), call.spans[index]);
    } else {
      scalar = lw.to_tensor(value, call.spans[index], "extent, stride or offset");
    }
    if (scalar.is_error()) return std::nullopt;
    if (scalar.type.is_pointer || scalar.type.is_tile() || !is_int(scalar.type.dtype)) {
      lw.fail(DiagKind::kBadArgument, call.spans[index],
              fmt::format("argument '{}' of '{}' holds scalar integers, but one is {}",
                          builtin_params(*call.builtin)[index].name, call.name, describe(scalar)));
      return std::nullopt;
    }
    if (wide || dtype_bits(scalar.type.dtype) > 32)
      scalar = lw.cast(scalar, Dtype::kI64);
    else
      scalar = lw.cast(scalar, Dtype::kI32);
    out.push_back(scalar.id);
  }
  return out;
}

bool same_rank(Lowering& lw, const Call& call, size_t index, size_t actual, size_t rank) {
  if (actual == rank) return true;
  lw.fail(DiagKind::kShapeMismatch, call.spans[index],
          fmt::format("argument '{}' of '{}' has {} entries, but the block has {} dimensions",
                      builtin_params(*call.builtin)[index].name, call.name, actual, rank));
  return false;
}

Value base_argument(Lowering& lw, const Call& call) {
  const Value& base = call.args[0];
  if (base.is_error() || (base.is_pointer() && base.type.is_scalar())) return base;
  return lw.fail(DiagKind::kBadArgument, call.spans[0],
                 fmt::format("'{}' needs a scalar pointer as its base, but this is {}", call.name,
                             describe(base)));
}

Value block_value(std::shared_ptr<const BlockPointer> block) {
  Value out;
  out.kind = Kind::kBlockPointer;
  out.block = std::move(block);
  return out;
}

// arange(block[d]) as int64 with unit dimensions elsewhere.
ir::ValueId positions(Lowering& lw, const ir::Shape& block, size_t d) {
  ir::ValueId id = lw.emit(Op::Arange, {}, {{"start", int64_t{0}}, {"end", block[d]}});
  id = lw.cast(id, Dtype::kI64);
  for (size_t axis = 0; axis < block.size(); ++axis)
    if (axis != d) id = lw.emit(Op::ExpandDims, {id}, {{"axis", static_cast<int64_t>(axis)}});
  return id;
}

ir::ValueId splat_like(Lowering& lw, ir::ValueId scalar, ir::ValueId like) {
  ir::Type type = lw.module.type(scalar).with_shape(lw.module.type(like).shape);
  return lw.emit_as(Op::Splat, type, {scalar});
}

ir::ValueId stretch(Lowering& lw, ir::ValueId id, const ir::Shape& shape) {
  const ir::Type type = lw.module.type(id);
  return type.shape == shape ? id : lw.emit_as(Op::Broadcast, type.with_shape(shape), {id});
}

ir::ValueId block_addresses(Lowering& lw, const BlockPointer& block,
                            const std::vector<ir::ValueId>& offsets) {
  ir::ValueId origin = block.base, pattern;
  for (size_t d = 0; d < block.block.size(); ++d) {
    ir::ValueId moved = lw.emit(Op::Mul, {lw.cast(offsets[d], Dtype::kI64), block.strides[d]});
    origin = lw.emit(Op::PtrAdd, {origin, moved});
  }
  for (size_t d = 0; d < block.block.size(); ++d) {
    ir::ValueId position = positions(lw, block.block, d);
    ir::ValueId term = lw.emit(Op::Mul, {position, splat_like(lw, block.strides[d], position)});
    term = stretch(lw, term, block.block);
    pattern = pattern.valid() ? lw.emit(Op::Add, {pattern, term}) : term;
  }
  ir::ValueId pointers =
      lw.emit_as(Op::Splat, lw.module.type(origin).with_shape(block.block), {origin});
  return lw.emit(Op::PtrAdd, {pointers, pattern});
}

// Invalid when no dimension is checked.
ir::ValueId block_mask(Lowering& lw, const BlockPointer& block,
                       const std::vector<ir::ValueId>& offsets,
                       const std::vector<int64_t>& checked) {
  ir::ValueId mask;
  auto require = [&](ir::ValueId inside) {
    inside = stretch(lw, inside, block.block);
    mask = mask.valid() ? lw.emit(Op::And, {mask, inside}) : inside;
  };
  for (int64_t dim : checked) {
    auto d = static_cast<size_t>(dim);
    ir::ValueId position = positions(lw, block.block, d);
    ir::ValueId offset = splat_like(lw, lw.cast(offsets[d], Dtype::kI64), position);
    ir::ValueId index = lw.emit(Op::Add, {position, offset});
    ir::ValueId zero = lw.builder.constant_int(lw.module.type(index), 0);
    require(lw.emit(Op::Cmp, {index, zero}, {{"pred", std::string("ge")}}));
    ir::ValueId extent = splat_like(lw, block.shape[d], index);
    require(lw.emit(Op::Cmp, {index, extent}, {{"pred", std::string("lt")}}));
  }
  return mask;
}

Value load_at(Lowering& lw, const BlockPointer& block, const std::vector<ir::ValueId>& offsets,
              const std::vector<int64_t>& checked, bool pad_nan, ir::Attrs attrs) {
  std::vector<ir::ValueId> operands = {block_addresses(lw, block, offsets)};
  ir::ValueId mask = block_mask(lw, block, offsets, checked);
  if (mask.valid()) operands.push_back(mask);
  if (mask.valid() && pad_nan)
    operands.push_back(lw.builder.constant_float(ir::Type::tile(block.dtype, block.block),
                                                 std::numeric_limits<double>::quiet_NaN()));
  return lw.emit_value(Op::Load, operands, std::move(attrs));
}

Value store_at(Lowering& lw, const BlockPointer& block, const std::vector<ir::ValueId>& offsets,
               const std::vector<int64_t>& checked, const Value& value, Span span,
               ir::Attrs attrs) {
  Value converted = convert_to(lw, value, block.dtype, span);
  if (converted.is_error()) return converted;
  if (converted.type.is_tile() && converted.type.shape != block.block)
    return lw.fail(DiagKind::kShapeMismatch, span,
                   fmt::format("the value is {}, but the block is {}", describe(value),
                               shape_text(block.block)));
  converted = lw.broadcast_to(converted, block.block, span);
  if (converted.is_error()) return converted;
  std::vector<ir::ValueId> operands = {block_addresses(lw, block, offsets), converted.id};
  ir::ValueId mask = block_mask(lw, block, offsets, checked);
  if (mask.valid()) operands.push_back(mask);
  lw.builder.make_op(Op::Store, operands, std::move(attrs), {});
  return Value::none();
}

std::optional<std::vector<int64_t>> boundary_check(Lowering& lw, const Call& call, size_t index,
                                                   const BlockPointer& block) {
  if (call.args[index].is_none()) return std::vector<int64_t>{};
  auto dims = lw.constant_ints(call, index);
  if (!dims) return std::nullopt;
  std::sort(dims->begin(), dims->end());
  dims->erase(std::unique(dims->begin(), dims->end()), dims->end());
  for (int64_t dim : *dims)
    if (dim < 0 || dim >= static_cast<int64_t>(block.block.size())) {
      lw.fail(DiagKind::kShapeMismatch, call.spans[index],
              fmt::format("boundary_check names dimension {}, but the block has dimensions 0 to {}",
                          dim, block.block.size() - 1));
      return std::nullopt;
    }
  return dims;
}

bool refuse_mask(Lowering& lw, const Call& call, size_t index) {
  if (call.args[index].is_none()) return true;
  lw.fail(DiagKind::kBadArgument, call.spans[index],
          fmt::format("a block pointer takes no '{}'; use boundary_check and padding_option",
                      builtin_params(*call.builtin)[index].name));
  return false;
}

std::optional<bool> nan_padding(Lowering& lw, const Call& call, size_t index, Dtype dtype) {
  auto word = lw.constant_string(call, index);
  if (!word) return std::nullopt;
  if (word->empty() || *word == "zero") return false;
  if (*word == "nan" && is_float(dtype)) return true;
  lw.fail(DiagKind::kBadArgument, call.spans[index],
          *word == "nan"
              ? fmt::format("{} has no nan to pad with; use 'zero'", dtype_triton_name(dtype))
              : fmt::format("padding_option is 'zero' or 'nan', not '{}'", *word));
  return std::nullopt;
}

}  // namespace

Value lower_make_block_ptr(Lowering& lw, const Call& call) {
  Value base = base_argument(lw, call);
  auto block_shape = lw.constant_shape(call, 4);
  auto order = lw.constant_ints(call, 5);
  auto shape = scalars(lw, call, 1, true), strides = scalars(lw, call, 2, true),
       offsets = scalars(lw, call, 3, false);
  if (base.is_error() || !block_shape || !order || !shape || !strides || !offsets)
    return Value::error();
  size_t rank = block_shape->size();
  if (!same_rank(lw, call, 1, shape->size(), rank) ||
      !same_rank(lw, call, 2, strides->size(), rank) ||
      !same_rank(lw, call, 3, offsets->size(), rank) ||
      !same_rank(lw, call, 5, order->size(), rank))
    return Value::error();
  std::vector<int64_t> sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < rank; ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return lw.fail(DiagKind::kBadArgument, call.spans[5],
                     fmt::format("'order' names each of the dimensions 0 to {} once", rank - 1));
  auto block = std::make_shared<BlockPointer>();
  block->base = base.id;
  block->shape = *shape;
  block->strides = *strides;
  block->offsets = *offsets;
  block->block = *block_shape;
  block->dtype = base.type.dtype;
  return block_value(std::move(block));
}

Value lower_advance(Lowering& lw, const Call& call) {
  const Value& pointer = call.args[0];
  if (pointer.is_error()) return pointer;
  if (pointer.kind != Kind::kBlockPointer || pointer.block->is_descriptor)
    return lw.fail(
        DiagKind::kBadArgument, call.spans[0],
        fmt::format("tl.advance moves a block pointer, but this is {}", describe(pointer)));
  auto offsets = scalars(lw, call, 1, false);
  if (!offsets || !same_rank(lw, call, 1, offsets->size(), pointer.block->block.size()))
    return Value::error();
  auto block = std::make_shared<BlockPointer>(*pointer.block);
  for (size_t d = 0; d < offsets->size(); ++d) {
    const Value& given =
        call.args[1].kind == Kind::kTuple ? call.args[1].elements[d] : call.args[1];
    if (given.is_integer() && given.constant.integer == 0) continue;
    Dtype dtype = lw.module.type(block->offsets[d]).dtype;
    block->offsets[d] = lw.emit(Op::Add, {block->offsets[d], lw.cast((*offsets)[d], dtype)});
  }
  return block_value(std::move(block));
}

Value load_block(Lowering& lw, const Call& call, ir::Attrs attrs) {
  const BlockPointer& block = *call.args[0].block;
  if (block.is_descriptor)
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   "a tensor descriptor is read with its method: desc.load([offsets])");
  if (!refuse_mask(lw, call, 1) || !refuse_mask(lw, call, 2)) return Value::error();
  auto checked = boundary_check(lw, call, 3, block);
  auto pad_nan = nan_padding(lw, call, 4, block.dtype);
  if (!checked || !pad_nan) return Value::error();
  return load_at(lw, block, block.offsets, *checked, *pad_nan, std::move(attrs));
}

Value store_block(Lowering& lw, const Call& call, ir::Attrs attrs) {
  const BlockPointer& block = *call.args[0].block;
  if (block.is_descriptor)
    return lw.fail(DiagKind::kBadArgument, call.spans[0],
                   "a tensor descriptor is written with its method: desc.store([offsets], value)");
  if (!refuse_mask(lw, call, 2)) return Value::error();
  auto checked = boundary_check(lw, call, 3, block);
  if (!checked) return Value::error();
  return store_at(lw, block, block.offsets, *checked, call.args[1], call.spans[1],
                  std::move(attrs));
}

Value lower_make_descriptor(Lowering& lw, const Call& call) {
  Value base = base_argument(lw, call);
  auto block_shape = lw.constant_shape(call, 3);
  auto shape = scalars(lw, call, 1, true), strides = scalars(lw, call, 2, true);
  if (base.is_error() || !block_shape || !shape || !strides) return Value::error();
  size_t rank = block_shape->size();
  if (!same_rank(lw, call, 1, shape->size(), rank) ||
      !same_rank(lw, call, 2, strides->size(), rank))
    return Value::error();
  const Value& last = call.args[2].elements.empty() ? call.args[2] : call.args[2].elements.back();
  if (last.is_integer() && last.constant.integer != 1)
    return lw.fail(
        DiagKind::kBadArgument, call.spans[2],
        fmt::format("the last stride of a tensor descriptor is 1, not {}", last.constant.integer));
  auto pad_nan = nan_padding(lw, call, 4, base.type.dtype);
  if (!pad_nan) return Value::error();
  auto block = std::make_shared<BlockPointer>();
  block->base = base.id;
  block->shape = *shape;
  block->strides = *strides;
  block->block = *block_shape;
  block->dtype = base.type.dtype;
  block->is_descriptor = true;
  block->pad_nan = *pad_nan;
  return block_value(std::move(block));
}

namespace {

const BlockPointer* descriptor(Lowering& lw, const Call& call) {
  const Value& value = call.args[0];
  if (value.kind == Kind::kBlockPointer && value.block->is_descriptor) return value.block.get();
  if (!value.is_error())
    lw.fail(
        DiagKind::kBadArgument, call.spans[0],
        fmt::format("'{}' needs a tensor descriptor, but this is {}", call.name, describe(value)));
  return nullptr;
}

std::vector<int64_t> all_dimensions(const BlockPointer& block) {
  std::vector<int64_t> out(block.block.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i);
  return out;
}

}  // namespace

Value lower_descriptor_load(Lowering& lw, const Call& call) {
  const BlockPointer* block = descriptor(lw, call);
  auto offsets = scalars(lw, call, 1, false);
  if (!block || !offsets || !same_rank(lw, call, 1, offsets->size(), block->block.size()))
    return Value::error();
  return load_at(lw, *block, *offsets, all_dimensions(*block), block->pad_nan, {});
}

Value lower_descriptor_store(Lowering& lw, const Call& call) {
  const BlockPointer* block = descriptor(lw, call);
  auto offsets = scalars(lw, call, 1, false);
  if (!block || !offsets || !same_rank(lw, call, 1, offsets->size(), block->block.size()))
    return Value::error();
  return store_at(lw, *block, *offsets, all_dimensions(*block), call.args[2], call.spans[2], {});
}

}  // namespace tilewright::frontend
