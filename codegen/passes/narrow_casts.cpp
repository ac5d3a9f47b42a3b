// Casts of integers that are known to be small to floats, without the conversion unit, which is
// slow. To 16-bit floats by way of the fraction: where the exponent makes its last place worth 1,
// an integer is the fraction. All of it happens in 16 bits, two elements in a register, and what is
// added to the result joins the constant that takes the exponent away again:
//
//   %q: i32 = and (shr (cast %w: i16), 4), 15   ->   %m: u16 = and (shr (bitcast %w), 4), 15
//   %f: f16 = sub (cast %q), 8.0                     %f: f16 = sub (bitcast (or %m, 0x6400)),
//   1032.0
//
// Others that fit a byte go through the byte, from which the GPU's text gets there in two
// instructions:
//
//   %q: i32 = and %w, 15                        ->   %b: u8 = cast %q
//   %f: f32 = cast %q                                %f: f32 = cast %b
//
// Both are exact, so nothing that is stored changes.
#include <cmath>
#include <optional>

#include "codegen/passes/integer_range.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/rules.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// ---- to 16-bit floats by their bits ----

// The float `exponent` + x for integers x below it: `exponent`'s image with x as the fraction.
struct Fraction {
  uint64_t image = 0;
  int64_t exponent = 0;  // the power of two whose last place is worth 1 …
  int64_t below = 0;     // … and the number of integers that fit into the fraction
};
std::optional<Fraction> fraction_of(Dtype dtype) {
  if (dtype == Dtype::kF16) return Fraction{0x6400, 1024, 1024};
  if (dtype == Dtype::kBF16) return Fraction{0x4300, 128, 128};
  return std::nullopt;
}

// The low 16 bits of an integer (of its value: bytes are extended) as u16, of which only those of
// `wanted` matter: computed in 16 bits as far as its operands are.
ValueId low_half(Rewriter& rw, ValueId id, uint64_t wanted, int depth = 0) {
  constexpr int kDepth = 8;
  const ir::Type type = rw.type(id), half = type.with_dtype(Dtype::kU16);
  if (auto bits = rw.constant(id))
    return rw.make_constant(half, int_to_bits(bits_to_int(*bits, type.dtype), Dtype::kU16));
  const OpNode* def = rw.module().def(rw.resolve(id));
  if (def != nullptr && depth < kDepth) {
    const OpNode node = *def;
    auto operand = [&](size_t i, uint64_t bits) {
      return low_half(rw, rw.resolve(node.operands[i]), bits, depth + 1);
    };
    switch (node.op) {
      case Op::And: {
        auto mask = rw.constant(node.operands[1]);
        uint64_t left = mask ? wanted & *mask : wanted;
        return rw.make(Op::And, {operand(0, left), operand(1, wanted)});
      }
      case Op::Or:
      case Op::Xor:
        return rw.make(node.op, {operand(0, wanted), operand(1, wanted)});
      case Op::Shr: {
        auto by = rw.constant(node.operands[1]);
        auto range = integer_range(rw, node.operands[0]);
        // Nothing but zeros may come in from above.
        bool zeros = range && range->within(0, 0xffff);
        if (by && *by < 16 && (zeros || wanted << *by <= 0xffff))
          return rw.make(Op::Shr, {operand(0, wanted << *by & 0xffff), operand(1, 0xffff)});
        break;
      }
      case Op::Cast: {
        const ir::Type& from = rw.type(node.operands[0]);
        bool keeps = dtype_bits(type.dtype) >= 16 || wanted <= 0xff;
        if (keeps && is_int_type(from) && from.dtype != Dtype::kI1) return operand(0, wanted);
        break;
      }
      case Op::Join:
        return rw.make(Op::Join, {operand(0, wanted), operand(1, wanted)});
      default:
        break;
    }
  }
  if (type.dtype == Dtype::kU16) return id;
  if (type.dtype == Dtype::kI8 && wanted <= 0xff)
    id = rw.make_as(Op::Bitcast, type.with_dtype(Dtype::kU8), {id});
  return rw.make_as(dtype_bits(type.dtype) == 16 ? Op::Bitcast : Op::Cast, half, {id});
}

ValueId float_constant(Rewriter& rw, const ir::Type& type, double value) {
  return rw.make_constant(type, float_to_bits(value, type.dtype));
}

// `fraction.exponent` + x as a float, for an x (u16) that fits into the fraction.
ValueId image_of(Rewriter& rw, const ir::Type& to, const Fraction& fraction, ValueId x) {
  ValueId image = rw.make_constant(rw.type(x), fraction.image);
  return rw.make_as(Op::Bitcast, to, {rw.make(Op::Or, {x, image})});
}
// The same less `less`.
ValueId from_fraction(Rewriter& rw, const ir::Type& to, const Fraction& fraction, ValueId x,
                      int64_t less) {
  return rw.make(
      Op::Sub, {image_of(rw, to, fraction, x), float_constant(rw, to, static_cast<double>(less))});
}

// What from_fraction made.
struct Number {
  ValueId x;
  int64_t less = 0;
};
std::optional<Number> parse_number(Rewriter& rw, const ir::Type& type, const OpNode& node) {
  auto fraction = fraction_of(type.dtype);
  if (!fraction || node.op != Op::Sub) return std::nullopt;
  auto less = rw.constant(node.operands[1]);
  ValueId image = operand_of(rw, node.operands[0], Op::Bitcast);
  const OpNode* number = image.valid() ? rw.def_as(image, Op::Or) : nullptr;
  if (!less || number == nullptr || !is_int_constant(rw, number->operands[1], fraction->image))
    return std::nullopt;
  ValueId x = rw.resolve(number->operands[0]);
  auto range = integer_range(rw, x);
  double value = bits_to_float(*less, type.dtype);
  if (!range || !range->within(0, fraction->below - 1) || std::floor(value) != value ||
      !(std::abs(value) <= 4096))
    return std::nullopt;
  return Number{x, static_cast<int64_t>(value)};
}

// Whether all differences `fraction.exponent` + x - less are exact: integers up to twice the
// exponent are.
bool is_exact(const Fraction& fraction, double less) {
  return less >= 0 && less <= static_cast<double>(2 * fraction.exponent);
}

// A signed byte (of which the low 8 bits of `x` are the image) has a bit more than the fraction of
// a bf16, the sign: 128 + its lower bits, less 128 or 256.
ValueId signed_byte_as_bf16(Rewriter& rw, const ir::Type& to, ValueId x) {
  const Fraction fraction = *fraction_of(to.dtype);
  auto bits = [&](uint64_t mask) {
    return image_of(rw, to, fraction, rw.make(Op::And, {x, rw.make_constant(rw.type(x), mask)}));
  };
  return rw.make(Op::Sub, {bits(0x7f), bits(0x80)});
}

// cast x : F = sub (bitcast (or x, image)), exponent
Replacement cast_by_fraction(Rewriter& rw, OpId, const OpNode& node) {
  const ir::Type to = rw.type(node.results[0]);
  ValueId x = rw.resolve(node.operands[0]);
  if (!is_int_type(rw.type(x)) || to.is_pointer) return kNoMatch;
  auto fraction = fraction_of(to.dtype);
  auto range = integer_range(rw, x);
  if (!fraction || !range) return kNoMatch;
  int64_t added = 0;
  // A sum with a constant that reaches below 0: the constant is added afterwards.
  for (Op op : {Op::Add, Op::Sub}) {
    const OpNode* sum = rw.def_as(x, op);
    if (range->low >= 0 || sum == nullptr) continue;
    auto constant = rw.constant(sum->operands[1]);
    if (!constant) continue;
    added = bits_to_int(*constant, rw.type(x).dtype) * (op == Op::Add ? 1 : -1);
    x = rw.resolve(sum->operands[0]);
    range = integer_range(rw, x);
    if (!range) return kNoMatch;
    break;
  }
  const ir::Type from = rw.type(x);
  if (from.dtype == Dtype::kI8 && range->low < 0 && to.dtype == Dtype::kBF16 && added == 0)
    return with(signed_byte_as_bf16(rw, to, low_half(rw, x, 0xff)));
  if (from.dtype == Dtype::kI8 && range->low < 0) {
    // A signed byte is 128 less than its image with the sign flipped.
    ir::Type byte = from.with_dtype(Dtype::kU8);
    x = rw.make(Op::Xor, {rw.make_as(Op::Bitcast, byte, {x}), rw.make_constant(byte, 0x80)});
    added -= 128;
    range = IntegerRange{0, 255};
  }
  int64_t less = fraction->exponent - added;
  if (!range->within(0, fraction->below - 1) || !is_exact(*fraction, static_cast<double>(less)))
    return kNoMatch;
  return with(from_fraction(rw, to, *fraction, low_half(rw, x, 0xffff), less));
}

// (exponent + x - c) ± c' = exponent + x - c'' for integers
Replacement join_constants(Rewriter& rw, OpId, const OpNode& node) {
  const ir::Type to = rw.type(node.results[0]);
  auto constant = is_float_type(to) ? rw.constant(node.operands[1]) : std::nullopt;
  const OpNode* inner = constant ? rw.def_as(node.operands[0], Op::Sub) : nullptr;
  auto number = inner ? parse_number(rw, to, *inner) : std::nullopt;
  if (!number) return kNoMatch;
  double more = bits_to_float(*constant, to.dtype);
  double less = static_cast<double>(number->less) + (node.op == Op::Add ? -more : more);
  const Fraction fraction = *fraction_of(to.dtype);
  if (std::floor(less) != less || !is_exact(fraction, less)) return kNoMatch;
  return with(from_fraction(rw, to, fraction, number->x, static_cast<int64_t>(less)));
}

// ((x >> s) & m) + exponent - c = (exponent + (x & m << s)) * 2^-s + c': what fits into the
// fraction where it stands need not be shifted. A rest of 8 stays, which neighbours share.
Replacement leave_in_place(Rewriter& rw, OpId, const OpNode& node) {
  const ir::Type to = rw.type(node.results[0]);
  auto number = to.is_pointer ? std::nullopt : parse_number(rw, to, node);
  const OpNode* masked = number ? rw.def_as(number->x, Op::And) : nullptr;
  const OpNode* shifted = masked ? rw.def_as(masked->operands[0], Op::Shr) : nullptr;
  auto mask = shifted ? rw.constant(masked->operands[1]) : std::nullopt;
  auto by = mask ? rw.constant(shifted->operands[1]) : std::nullopt;
  if (!by || *by > 15) return kNoMatch;
  const Fraction fraction = *fraction_of(to.dtype);
  uint64_t rest = *by & ~uint64_t{7}, places = *by - rest;
  if (places == 0 || static_cast<int64_t>(*mask << places) >= fraction.below) return kNoMatch;
  ValueId x = rw.resolve(shifted->operands[0]);
  const ir::Type half = rw.type(x);
  if (rest > 0) x = rw.make(Op::Shr, {x, rw.make_constant(half, rest)});
  x = rw.make(Op::And, {x, rw.make_constant(half, *mask << places)});
  int64_t added = fraction.exponent - (fraction.exponent >> places) - number->less;
  return with(rw.make(Op::Fma,
                      {image_of(rw, to, fraction, x),
                       float_constant(rw, to, std::ldexp(1.0, -static_cast<int>(places))),
                       float_constant(rw, to, static_cast<double>(added))},
                      {{"exact", int64_t{1}}}));
}

// ---- through a byte ----

// cast x : F = cast (cast x : byte) : F
Replacement cast_through_byte(Rewriter& rw, OpId, const OpNode& node) {
  const ir::Type to = rw.type(node.results[0]), from = rw.type(node.operands[0]);
  if (!is_float_type(to) || !is_int_type(from) || dtype_bits(from.dtype) <= 8 ||
      dtype_bits(to.dtype) > 32)
    return kNoMatch;
  auto range = integer_range(rw, node.operands[0]);
  if (!range) return kNoMatch;
  Dtype byte = Dtype::kI8;
  if (range->within(0, 255))
    byte = Dtype::kU8;
  else if (!range->within(-128, 127))
    return kNoMatch;
  ValueId narrow = rw.make_as(Op::Cast, from.with_dtype(byte), {node.operands[0]});
  return with(rw.make_as(Op::Cast, to, {narrow}, node.attrs));
}

constexpr Rule kRules[] = {
    {Op::Cast, "cast-by-fraction", cast_by_fraction},
    {Op::Cast, "cast-through-byte", cast_through_byte},
    {Op::Sub, "sub-joins-constants", join_constants},
    {Op::Add, "add-joins-constants", join_constants},
};
// Once all constants have been joined.
constexpr Rule kInPlace = {Op::Sub, "leave-in-place", leave_in_place};

}  // namespace

bool narrow_casts(ir::Module& module) {
  const Rule* rules[] = {&kRules[0], &kRules[1], &kRules[2], &kRules[3]};
  bool changed = Rewriter(module, rules).run();
  const Rule* in_place[] = {&kInPlace};
  return Rewriter(module, in_place).run() || changed;
}

}  // namespace tilewright::passes
