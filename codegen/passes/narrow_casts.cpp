// Casts of integers that fit a byte to floats go through the byte, from which the GPU's text gets
// there in two instructions instead of two slow conversions:
//
//   %q: i32 = and (shr %w, %s), 15
//   %f: f16 = cast (sub %q, 8)     ->   %b: i8 = cast (sub %q, 8)
//                                       %f: f16 = cast %b
//
// The range of a value is known from masks, shifts, sums with constants, and casts from bytes.
#include <algorithm>
#include <optional>

#include "codegen/passes/passes.h"
#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

struct Range {
  int64_t low = 0, high = 0;
};

std::optional<Range> range_of(Rewriter& rw, ValueId id, int depth = 0);

std::optional<Range> of_bits(const ir::Type& type) {
  if (type.dtype == Dtype::kI8) return Range{-128, 127};
  if (type.dtype == Dtype::kU8) return Range{0, 255};
  return std::nullopt;
}

// One op's range from its operands'.
std::optional<Range> range_of_op(Rewriter& rw, const OpNode& def, int depth) {
  auto operand = [&](size_t i) { return range_of(rw, def.operands[i], depth + 1); };
  switch (def.op) {
    case Op::And:
      for (size_t i : {0, 1})
        if (auto r = operand(i); r && r->low >= 0) return Range{0, r->high};
      return std::nullopt;
    case Op::Shr:
      if (auto r = operand(0); r && r->low >= 0) return Range{0, r->high};
      return std::nullopt;
    case Op::Cast: {
      auto r = is_int_type(rw.type(def.operands[0])) ? operand(0) : std::nullopt;
      // Unless it wraps.
      const ir::Type& to = rw.type(def.results[0]);
      if (!r || (r->low < 0 && !is_signed(to.dtype))) return std::nullopt;
      return r;
    }
    case Op::Add:
    case Op::Sub: {
      auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      Range sum = def.op == Op::Add ? Range{a->low + b->low, a->high + b->high}
                                    : Range{a->low - b->high, a->high - b->low};
      constexpr int64_t kFar = 4096;  // what fits a byte in the end does not come from further away
      bool wraps = (sum.low < 0 && !is_signed(rw.type(def.results[0]).dtype)) || sum.low < -kFar ||
                   sum.high > kFar;
      return wraps ? std::nullopt : std::optional(sum);
    }
    case Op::Splat:
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Reshape:
    case Op::Permute:
      return operand(0);
    case Op::Join: {
      auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
    }
    default:
      return std::nullopt;
  }
}

std::optional<Range> range_of(Rewriter& rw, ValueId id, int depth) {
  constexpr int kDepth = 8;
  const ir::Type type = rw.type(id);
  if (!is_int_type(type) || type.dtype == Dtype::kI1 || depth > kDepth) return std::nullopt;
  std::optional<Range> range;
  if (auto bits = rw.constant(id)) {
    int64_t value = bits_to_int(*bits, type.dtype);
    if (value >= -255 && value <= 255) range = Range{value, value};
  } else if (const OpNode* def = rw.module().def(rw.resolve(id))) {
    range = range_of_op(rw, OpNode(*def), depth);
  }
  auto limit = of_bits(type);
  if (!limit) return range;
  bool inside = range && range->low >= limit->low && range->high <= limit->high;
  return inside ? range : limit;
}

// cast x : F = cast (cast x : byte) : F
Replacement cast_through_byte(Rewriter& rw, OpId, const OpNode& node) {
  const ir::Type to = rw.type(node.results[0]), from = rw.type(node.operands[0]);
  if (!is_float_type(to) || !is_int_type(from) || dtype_bits(from.dtype) <= 8 ||
      dtype_bits(to.dtype) > 32)
    return kNoMatch;
  auto range = range_of(rw, node.operands[0]);
  if (!range) return kNoMatch;
  Dtype byte = Dtype::kI8;
  if (range->low >= 0 && range->high <= 255)
    byte = Dtype::kU8;
  else if (range->low < -128 || range->high > 127)
    return kNoMatch;
  ValueId narrow = rw.make_as(Op::Cast, from.with_dtype(byte), {node.operands[0]});
  return with(rw.make_as(Op::Cast, to, {narrow}, node.attrs));
}

const Rule kRule = {Op::Cast, "cast-through-byte", cast_through_byte};

}  // namespace

bool narrow_casts(ir::Module& module) {
  const Rule* rules[] = {&kRule};
  return Rewriter(module, rules).run();
}

}  // namespace tilewright::passes
