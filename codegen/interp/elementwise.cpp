// Element-wise ops: arithmetic, logic, comparison and conversion of single element images.
// The rules are those of dsl/LANGUAGE.md, "Numerics contract".
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "codegen/interp/machine.h"
#include "dsl/base/check.h"

namespace tilewright::interp {
namespace {

uint64_t all_ones(Dtype dtype) {
  return int_to_bits(-1, dtype);
}
uint64_t sign_bit(Dtype dtype) {
  return uint64_t{1} << (dtype_bits(dtype) - 1);
}
bool is_negative(uint64_t bits, Dtype dtype) {
  return (bits & sign_bit(dtype)) != 0;
}

// Floats other than f64 compute in f32 and round once to the type. For f16, bf16 and fp8 the f32
// result of + - * / differs from the exact one only where the narrow rounding does not care.
template <class Narrow, class Wide>
uint64_t float_op(Dtype dtype, const uint64_t* x, Narrow in_float, Wide in_double) {
  if (dtype == Dtype::kF64)
    return std::bit_cast<uint64_t>(
        static_cast<double>(in_double(std::bit_cast<double>(x[0]), std::bit_cast<double>(x[1]))));
  float result = in_float(static_cast<float>(bits_to_float(x[0], dtype)),
                          static_cast<float>(bits_to_float(x[1], dtype)));
  return float_to_bits(static_cast<double>(result), dtype);
}
template <class Function>
uint64_t float_op(Dtype dtype, const uint64_t* x, Function function) {
  return float_op(dtype, x, function, function);
}

// Functions of one operand are computed in double and rounded once.
template <class Function>
uint64_t float_function(Dtype dtype, uint64_t x, Function function) {
  return float_to_bits(function(bits_to_float(x, dtype)), dtype);
}

// Orders floats with -0 below +0; neither is NaN.
bool float_less(uint64_t a, uint64_t b, Dtype dtype) {
  double x = bits_to_float(a, dtype), y = bits_to_float(b, dtype);
  if (x == 0 && y == 0) return is_negative(a, dtype) && !is_negative(b, dtype);
  return x < y;
}

bool int_less(uint64_t a, uint64_t b, Dtype dtype) {
  if (is_signed(dtype)) return bits_to_int(a, dtype) < bits_to_int(b, dtype);
  return a < b;
}

uint64_t min_or_max(const Element& e, const uint64_t* x, bool want_max) {
  if (is_int(e.type)) {
    bool less = int_less(x[0], x[1], e.type);
    return less == want_max ? x[1] : x[0];
  }
  bool a_nan = std::isnan(bits_to_float(x[0], e.type));
  bool b_nan = std::isnan(bits_to_float(x[1], e.type));
  if ((a_nan && b_nan) || (e.propagate_nan && (a_nan || b_nan)))
    return float_to_bits(std::numeric_limits<double>::quiet_NaN(), e.type);
  if (a_nan || b_nan) return a_nan ? x[1] : x[0];
  bool less = float_less(x[0], x[1], e.type);
  return less == want_max ? x[1] : x[0];
}

template <class Values>
bool holds(Element::Predicate predicate, Values a, Values b) {
  switch (predicate) {
    case Element::Predicate::kEq:
      return a == b;
    case Element::Predicate::kNe:
      return a != b;
    case Element::Predicate::kLt:
      return a < b;
    case Element::Predicate::kLe:
      return a <= b;
    case Element::Predicate::kGt:
      return a > b;
    case Element::Predicate::kGe:
      return a >= b;
  }
  TW_UNREACHABLE("unknown predicate");
}

uint64_t wrap(Dtype dtype, uint64_t value) {
  return int_to_bits(static_cast<int64_t>(value), dtype);
}

}  // namespace

// ---- arithmetic ----

uint64_t eval_Add(const Element& e, const uint64_t* x) {
  if (is_int(e.type)) return wrap(e.type, x[0] + x[1]);
  return float_op(e.type, x, [](auto a, auto b) { return a + b; });
}

uint64_t eval_Sub(const Element& e, const uint64_t* x) {
  if (is_int(e.type)) return wrap(e.type, x[0] - x[1]);
  return float_op(e.type, x, [](auto a, auto b) { return a - b; });
}

uint64_t eval_Mul(const Element& e, const uint64_t* x) {
  if (is_int(e.type)) return wrap(e.type, x[0] * x[1]);
  return float_op(e.type, x, [](auto a, auto b) { return a * b; });
}

uint64_t eval_Div(const Element& e, const uint64_t* x) {
  if (is_float(e.type)) return float_op(e.type, x, [](auto a, auto b) { return a / b; });
  if (x[1] == 0) return all_ones(e.type);
  if (!is_signed(e.type)) return x[0] / x[1];
  int64_t a = bits_to_int(x[0], e.type), b = bits_to_int(x[1], e.type);
  // The smallest integer over -1 does not fit and gives itself.
  return b == -1 ? wrap(e.type, 0 - x[0]) : int_to_bits(a / b, e.type);
}

uint64_t eval_DivRn(const Element& e, const uint64_t* x) {
  return eval_Div(e, x);
}

uint64_t eval_Rem(const Element& e, const uint64_t* x) {
  if (is_float(e.type)) return float_op(e.type, x, [](auto a, auto b) { return std::fmod(a, b); });
  if (x[1] == 0) return x[0];
  if (!is_signed(e.type)) return x[0] % x[1];
  int64_t a = bits_to_int(x[0], e.type), b = bits_to_int(x[1], e.type);
  return b == -1 ? 0 : int_to_bits(a % b, e.type);
}

uint64_t eval_MulHi(const Element& e, const uint64_t* x) {
  int width = dtype_bits(e.type);
  if (is_signed(e.type)) {
    __int128 product = static_cast<__int128>(bits_to_int(x[0], e.type)) * bits_to_int(x[1], e.type);
    return wrap(e.type, static_cast<uint64_t>(product >> width));
  }
  unsigned __int128 product = static_cast<unsigned __int128>(x[0]) * x[1];
  return wrap(e.type, static_cast<uint64_t>(product >> width));
}

// f16 and bf16: the fma is that of f32 (the product is exact there), then one rounding to the type.
uint64_t eval_Fma(const Element& e, const uint64_t* x) {
  if (e.type == Dtype::kF64)
    return std::bit_cast<uint64_t>(std::fma(
        std::bit_cast<double>(x[0]), std::bit_cast<double>(x[1]), std::bit_cast<double>(x[2])));
  float result = std::fmaf(static_cast<float>(bits_to_float(x[0], e.type)),
                           static_cast<float>(bits_to_float(x[1], e.type)),
                           static_cast<float>(bits_to_float(x[2], e.type)));
  return float_to_bits(static_cast<double>(result), e.type);
}

uint64_t eval_Min(const Element& e, const uint64_t* x) {
  return min_or_max(e, x, false);
}
uint64_t eval_Max(const Element& e, const uint64_t* x) {
  return min_or_max(e, x, true);
}

// Only the sign bit of a float changes, NaN included.
uint64_t eval_Neg(const Element& e, const uint64_t* x) {
  return is_int(e.type) ? wrap(e.type, 0 - x[0]) : x[0] ^ sign_bit(e.type);
}

uint64_t eval_Abs(const Element& e, const uint64_t* x) {
  if (is_float(e.type)) return x[0] & ~sign_bit(e.type);
  bool negative = is_signed(e.type) && bits_to_int(x[0], e.type) < 0;
  return negative ? wrap(e.type, 0 - x[0]) : x[0];
}

// ---- logic ----

uint64_t eval_And(const Element&, const uint64_t* x) {
  return x[0] & x[1];
}
uint64_t eval_Or(const Element&, const uint64_t* x) {
  return x[0] | x[1];
}
uint64_t eval_Xor(const Element&, const uint64_t* x) {
  return x[0] ^ x[1];
}
uint64_t eval_Not(const Element& e, const uint64_t* x) {
  return x[0] ^ all_ones(e.type);
}

uint64_t eval_Shl(const Element& e, const uint64_t* x) {
  auto width = static_cast<uint64_t>(dtype_bits(e.type));
  return x[1] >= width ? 0 : wrap(e.type, x[0] << x[1]);
}

uint64_t eval_Shr(const Element& e, const uint64_t* x) {
  auto width = static_cast<uint64_t>(dtype_bits(e.type));
  if (!is_signed(e.type)) return x[1] >= width ? 0 : x[0] >> x[1];
  return int_to_bits(bits_to_int(x[0], e.type) >> std::min<uint64_t>(x[1], 63), e.type);
}

uint64_t eval_Cmp(const Element& e, const uint64_t* x) {
  if (e.from_pointer) return holds(e.predicate, x[0], x[1]);
  if (is_float(e.type))
    return holds(e.predicate, bits_to_float(x[0], e.type), bits_to_float(x[1], e.type));
  if (is_signed(e.type))
    return holds(e.predicate, bits_to_int(x[0], e.type), bits_to_int(x[1], e.type));
  return holds(e.predicate, x[0], x[1]);
}

uint64_t eval_Select(const Element&, const uint64_t* x) {
  return x[0] ? x[1] : x[2];
}

// ---- functions ----

uint64_t eval_Exp(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::exp(v); });
}
uint64_t eval_Exp2(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::exp2(v); });
}
uint64_t eval_Log(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::log(v); });
}
uint64_t eval_Log2(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::log2(v); });
}
uint64_t eval_Sin(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::sin(v); });
}
uint64_t eval_Cos(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::cos(v); });
}
uint64_t eval_Tanh(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::tanh(v); });
}
uint64_t eval_Sqrt(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::sqrt(v); });
}
uint64_t eval_SqrtRn(const Element& e, const uint64_t* x) {
  return eval_Sqrt(e, x);
}
uint64_t eval_Rsqrt(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return 1 / std::sqrt(v); });
}
uint64_t eval_Erf(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::erf(v); });
}
uint64_t eval_Floor(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::floor(v); });
}
uint64_t eval_Ceil(const Element& e, const uint64_t* x) {
  return float_function(e.type, x[0], [](double v) { return std::ceil(v); });
}

// ---- conversion ----

uint64_t eval_Cast(const Element& e, const uint64_t* x) {
  if (e.from_pointer && e.to_pointer) return x[0];
  if (e.from_pointer) return convert_bits(x[0], Dtype::kU64, e.result, e.rounding);
  if (e.to_pointer) return static_cast<uint64_t>(bits_to_int(x[0], e.type));
  return convert_bits(x[0], e.type, e.result, e.rounding);
}

uint64_t eval_Bitcast(const Element&, const uint64_t* x) {
  return x[0];
}

uint64_t eval_PtrAdd(const Element& e, const uint64_t* x) {
  auto offset = static_cast<uint64_t>(bits_to_int(x[1], e.second));
  return x[0] + offset * static_cast<uint64_t>(dtype_bytes(e.type));
}

// ---- the shared handler ----

namespace {

Element::Predicate predicate_from(std::string_view word) {
  constexpr std::string_view kWords[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (size_t i = 0; i < std::size(kWords); ++i)
    if (word == kWords[i]) return static_cast<Element::Predicate>(i);
  TW_UNREACHABLE("unknown predicate");
}

Element element_of(const Machine& machine, const ir::OpNode& op) {
  const ir::Type& first = machine.type(op.operands[op.op == ir::Op::Select ? 1 : 0]);
  const ir::Type& result = machine.type(op.results[0]);
  Element e;
  e.type = first.dtype;
  e.second = machine.type(op.operands.back()).dtype;
  e.result = result.dtype;
  e.from_pointer = first.is_pointer;
  e.to_pointer = result.is_pointer;
  if (op.op == ir::Op::Cmp) e.predicate = predicate_from(op.attrs.get_word("pred"));
  e.propagate_nan = op.attrs.get_word("nan") == "propagate";
  if (op.attrs.get_word("rounding") == "rtz") e.rounding = Rounding::kTowardZero;
  return e;
}

}  // namespace

Status run_elementwise(Machine& machine, const ir::OpNode& op, ElementHandler function) {
  constexpr size_t kMaxOperands = 3;
  size_t operands = op.operands.size();
  TW_CHECK(operands <= kMaxOperands, "too many operands for an element-wise op");
  Element e = element_of(machine, op);
  auto count = static_cast<size_t>(machine.type(op.results[0]).element_count());
  Tile tile(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t x[kMaxOperands] = {};
    for (size_t k = 0; k < operands; ++k) {
      const Tile& operand = machine.get(op.operands[k]);
      // A scalar condition of select holds for every element.
      x[k] = operand[operand.size() == 1 ? 0 : i];
    }
    tile[i] = function(e, x);
  }
  machine.set_result(op, std::move(tile));
  return {};
}

}  // namespace tilewright::interp
