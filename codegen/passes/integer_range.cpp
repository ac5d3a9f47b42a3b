#include "codegen/passes/integer_range.h"

#include <algorithm>

#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

constexpr int kDepth = 8;          // of the expression that is looked at
constexpr int64_t kFar = 1 << 20;  // sums beyond are not followed, so that none wraps

std::optional<IntegerRange> range_at(Rewriter& rw, ValueId id, int depth);

// All values of a type of at most 16 bits.
std::optional<IntegerRange> range_of_type(const ir::Type& type) {
  int bits = dtype_bits(type.dtype);
  if (bits > 16) return std::nullopt;
  if (!is_signed(type.dtype)) return IntegerRange{0, (int64_t{1} << bits) - 1};
  return IntegerRange{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

IntegerRange both(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of a mask that is not negative, whatever is masked.
std::optional<IntegerRange> range_of_and(const std::optional<IntegerRange>& a,
                                         const std::optional<IntegerRange>& b) {
  std::optional<IntegerRange> least;
  for (const auto& r : {a, b})
    if (r && r->low >= 0 && (!least || r->high < least->high)) least = IntegerRange{0, r->high};
  return least;
}

// One op's range from its operands', before its type limits it.
std::optional<IntegerRange> range_of_op(Rewriter& rw, const OpNode& def, int depth) {
  auto operand = [&](size_t i) { return range_at(rw, def.operands[i], depth + 1); };
  const bool is_unsigned = !is_signed(rw.type(def.results[0]).dtype);
  switch (def.op) {
    case Op::And:
      return range_of_and(operand(0), operand(1));
    case Op::Shr: {
      auto r = operand(0);
      if (!r || r->low < 0) return std::nullopt;
      auto by = rw.constant(def.operands[1]);
      return IntegerRange{0, by ? r->high >> std::min<uint64_t>(*by, 63) : r->high};
    }
    case Op::Cast: {
      auto r = is_int_type(rw.type(def.operands[0])) ? operand(0) : std::nullopt;
      return !r || (r->low < 0 && is_unsigned) ? std::nullopt : r;
    }
    case Op::Add:
    case Op::Sub: {
      auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      IntegerRange sum = def.op == Op::Add ? IntegerRange{a->low + b->low, a->high + b->high}
                                           : IntegerRange{a->low - b->high, a->high - b->low};
      return sum.within(is_unsigned ? 0 : -kFar, kFar) ? std::optional(sum) : std::nullopt;
    }
    case Op::Splat:
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Reshape:
    case Op::Permute:
      return operand(0);
    case Op::Join: {
      auto a = operand(0), b = operand(1);
      return a && b ? std::optional(both(*a, *b)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<IntegerRange> range_at(Rewriter& rw, ValueId id, int depth) {
  const ir::Type type = rw.type(id);
  if (!is_int_type(type) || type.dtype == Dtype::kI1 || depth > kDepth) return std::nullopt;
  std::optional<IntegerRange> range;
  if (auto bits = rw.constant(id)) {
    int64_t value = bits_to_int(*bits, type.dtype);
    if (value >= -kFar && value <= kFar) range = IntegerRange{value, value};
  } else if (const OpNode* def = rw.module().def(rw.resolve(id))) {
    range = range_of_op(rw, OpNode(*def), depth);
  }
  // What leaves a narrow type wraps: then it may be anything.
  auto limit = range_of_type(type);
  return !limit || (range && range->within(limit->low, limit->high)) ? range : limit;
}

}  // namespace

std::optional<IntegerRange> integer_range(Rewriter& rw, ValueId value) {
  return range_at(rw, value, 0);
}

}  // namespace tilewright::passes
