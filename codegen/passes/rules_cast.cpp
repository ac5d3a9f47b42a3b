#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpNode;
using ir::Type;
using ir::ValueId;

// Bits of an integer's magnitude, or of a float's significand, that the type holds exactly.
int precision(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF8E4M3:
      return 4;
    case Dtype::kF8E5M2:
      return 3;
    case Dtype::kF16:
      return 11;
    case Dtype::kBF16:
      return 8;
    case Dtype::kF32:
      return 24;
    case Dtype::kF64:
      return 53;
    default:
      return dtype_bits(dtype) - (is_signed(dtype) ? 1 : 0);
  }
}

// Whether every value of `from` (infinities and NaN included) is a value of `to`.
bool holds_every_value(Dtype from, Dtype to) {
  if (from == to) return true;
  if (is_int(from) && is_int(to))
    return precision(from) <= precision(to) && (!is_signed(from) || is_signed(to));
  if (is_int(from)) {
    // The smallest signed integer is a power of two, so the magnitude bits are what counts; f16
    // reaches 65504 and holds no 16-bit integer type.
    return precision(from) <= precision(to) && !is_fp8(to);
  }
  if (is_int(to) || is_fp8(to)) return false;
  if (from == Dtype::kF16) return to == Dtype::kF32 || to == Dtype::kF64;
  if (from == Dtype::kBF16) return to == Dtype::kF32 || to == Dtype::kF64;
  return is_fp8(from) || (from == Dtype::kF32 && to == Dtype::kF64);
}

// Whether a -> b -> c gives what a -> c gives, where b holds every value of a.
bool widening_drops_out(Dtype a, Dtype b, Dtype c) {
  // Through a float, integers are clipped to the range of an integer; directly they wrap.
  if (is_int(a) && is_float(b) && is_int(c)) return holds_every_value(a, c);
  // Directly, integers reach the narrow floats through f32 (a second rounding).
  if (is_int(a) && is_float(b) && is_float(c))
    return c == Dtype::kF32 || c == Dtype::kF64 || precision(a) <= precision(Dtype::kF32);
  return true;
}

// Whether integers a -> b -> c keep the low bits that a -> c keeps.
bool truncation_drops_out(Dtype a, Dtype b, Dtype c) {
  return is_int(a) && is_int(b) && is_int(c) && b != Dtype::kI1 && c != Dtype::kI1 &&
         dtype_bits(c) <= dtype_bits(b);
}

// cast x : T = x for x : T (but for f8e5m2, where a cast clips infinities)
Replacement cast_same(Rewriter& rw, ir::OpId, const OpNode& node) {
  if (rw.type(node.operands[0]).dtype == Dtype::kF8E5M2) return kNoMatch;
  return rw.type(node.operands[0]) == rw.type(node.results[0]) ? with(node.operands[0]) : kNoMatch;
}

// cast (cast x : B) : C = cast x : C where B loses nothing that C keeps
Replacement cast_of_cast(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* inner = rw.def_as(node.operands[0], Op::Cast);
  if (inner == nullptr) return kNoMatch;
  ValueId x = rw.resolve(inner->operands[0]);
  const Type a = rw.type(x), b = rw.type(node.operands[0]), c = rw.type(node.results[0]);
  if (a.is_pointer || b.is_pointer || c.is_pointer) {
    // Addresses and 64-bit integers have the same bits.
    auto is_address = [](const Type& t) { return t.is_pointer || dtype_bits(t.dtype) == 64; };
    if (!is_address(a) || !is_address(b) || !is_address(c)) return kNoMatch;
    if (is_float_type(a) || is_float_type(b) || is_float_type(c)) return kNoMatch;
    return with(rw.make_as(Op::Cast, c, {x}));
  }
  bool widening =
      holds_every_value(a.dtype, b.dtype) && widening_drops_out(a.dtype, b.dtype, c.dtype);
  if (!widening && !truncation_drops_out(a.dtype, b.dtype, c.dtype)) return kNoMatch;
  // rtz stays with casts from float to float.
  ir::Attrs attrs;
  if (node.attrs.get_word("rounding") == "rtz") {
    if (!is_float(a.dtype)) return kNoMatch;
    attrs = node.attrs;
  }
  return with(rw.make_as(Op::Cast, c, {x}, std::move(attrs)));
}

// bitcast x : T = x for x : T, bitcast (bitcast x : B) : C = bitcast x : C
Replacement bitcast(Rewriter& rw, ir::OpId, const OpNode& node) {
  const Type result = rw.type(node.results[0]);
  if (rw.type(node.operands[0]) == result) return with(node.operands[0]);
  ValueId x = operand_of(rw, node.operands[0], Op::Bitcast);
  return x.valid() ? with(rw.make_as(Op::Bitcast, result, {x})) : kNoMatch;
}

// p + 0 = p
Replacement ptr_add_zero(Rewriter& rw, ir::OpId, const OpNode& node) {
  return is_int_constant(rw, node.operands[1], 0) ? with(node.operands[0]) : kNoMatch;
}

// (p + c1) + c2 = p + (c1 + c2), as 64-bit offsets unless the sum fits the type of c2
Replacement ptr_add_associate(Rewriter& rw, ir::OpId, const OpNode& node) {
  const OpNode* inner = rw.def_as(node.operands[0], Op::PtrAdd);
  if (inner == nullptr) return kNoMatch;
  ValueId p = rw.resolve(inner->operands[0]), first = rw.resolve(inner->operands[1]);
  auto c1 = rw.constant(first), c2 = rw.constant(node.operands[1]);
  if (!c1 || !c2) return kNoMatch;
  Type type = rw.type(node.operands[1]);
  auto sum = static_cast<int64_t>(static_cast<uint64_t>(bits_to_int(*c1, rw.type(first).dtype)) +
                                  static_cast<uint64_t>(bits_to_int(*c2, type.dtype)));
  if (bits_to_int(int_to_bits(sum, type.dtype), type.dtype) != sum || type.dtype == Dtype::kU64)
    type.dtype = Dtype::kI64;
  ValueId c = rw.make_constant(type, int_to_bits(sum, type.dtype));
  return with(rw.make(Op::PtrAdd, {p, c}));
}

constexpr Rule kRules[] = {
    {Op::Cast, "cast-same", cast_same},
    {Op::Cast, "cast-of-cast", cast_of_cast},
    {Op::Bitcast, "bitcast", bitcast},
    {Op::PtrAdd, "ptr_add-zero", ptr_add_zero},
    {Op::PtrAdd, "ptr_add-associate", ptr_add_associate},
};

}  // namespace

std::span<const Rule> cast_rules() {
  return kRules;
}

}  // namespace tilewright::passes
