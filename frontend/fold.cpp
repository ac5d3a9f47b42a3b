#include "frontend/fold.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tilewright::frontend {
namespace {

using dsl::Operator;
using Kind = Constant::Kind;
using Wide = __int128;

constexpr Wide kMin = std::numeric_limits<int64_t>::min();
constexpr Wide kMax = std::numeric_limits<uint64_t>::max();

Wide wide(const Constant& x) {
  return x.is_unsigned ? static_cast<Wide>(static_cast<uint64_t>(x.integer)) : Wide{x.integer};
}

Constant float_constant(double value) {
  Constant out;
  out.kind = Kind::kFloat;
  out.number = value;
  return out;
}

Constant bool_constant(bool value) {
  Constant out;
  out.kind = Kind::kBool;
  out.integer = value;
  return out;
}

ErrorInfo overflow() {
  return make_error(DiagKind::kConstantOverflow,
                    "the integer result does not fit in 64 bits (-2^63 to 2^64-1)");
}

Result<Constant> int_constant(Wide value) {
  if (value < kMin || value > kMax) return overflow();
  Constant out;
  out.kind = Kind::kInt;
  out.integer = static_cast<int64_t>(static_cast<uint64_t>(value));
  out.is_unsigned = value > std::numeric_limits<int64_t>::max();
  return out;
}

ErrorInfo bad_operands(Operator op, const Constant& a, const Constant& b) {
  return make_error(DiagKind::kBadOperand,
                    fmt::format("'{}' is not defined for {} and {}", dsl::operator_text(op),
                                python_type(a), python_type(b)));
}

ErrorInfo zero_division(Operator op) {
  return make_error(DiagKind::kDivisionByZero,
                    fmt::format("'{}' by zero in a constant expression", dsl::operator_text(op)));
}

Wide floor_div(Wide a, Wide b) {
  Wide q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

double floor_mod(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

Result<Constant> int_power(Wide base, Wide exponent) {
  if (exponent < 0) {
    if (base == 0) return zero_division(Operator::kPow);
    return float_constant(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  // 0, 1 and -1 allow any exponent; others leave the range within 64 steps.
  if (base == 0 || base == 1) return int_constant(exponent == 0 ? 1 : base);
  if (base == -1) return int_constant(exponent % 2 == 0 ? 1 : -1);
  Wide result = 1;
  for (Wide i = 0; i < exponent; ++i) {
    result *= base;
    if (result < kMin || result > kMax) return overflow();
  }
  return int_constant(result);
}

Result<Constant> shift(Operator op, Wide a, Wide amount) {
  if (amount < 0)
    return make_error(DiagKind::kBadOperand,
                      fmt::format("negative shift count {}", static_cast<int64_t>(amount)));
  if (op == Operator::kShr) return int_constant(amount > 100 ? (a < 0 ? -1 : 0) : a >> amount);
  if (a == 0) return int_constant(0);
  if (amount > 64) return overflow();
  Wide limit = a > 0 ? kMax : -kMin;
  Wide magnitude = a > 0 ? a : -a;
  if (magnitude > (limit >> amount)) return overflow();
  return int_constant(a * (Wide{1} << amount));
}

Result<Constant> fold_ints(Operator op, const Constant& ca, const Constant& cb) {
  Wide a = wide(ca), b = wide(cb);
  bool bools = ca.kind == Kind::kBool && cb.kind == Kind::kBool;
  switch (op) {
    case Operator::kAdd:
      return int_constant(a + b);
    case Operator::kSub:
      return int_constant(a - b);
    case Operator::kMul: {
      Wide product = 0;  // |a|, |b| <= 2^64: only the signed 128-bit product can overflow
      if (__builtin_mul_overflow(a, b, &product)) return overflow();
      return int_constant(product);
    }
    case Operator::kDiv:
      if (b == 0) return zero_division(op);
      return float_constant(
          static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operator::kFloorDiv:
      if (b == 0) return zero_division(op);
      return int_constant(floor_div(a, b));
    case Operator::kMod:
      if (b == 0) return zero_division(op);
      return int_constant(a - floor_div(a, b) * b);
    case Operator::kPow:
      return int_power(a, b);
    case Operator::kAnd:
      return bools ? bool_constant(a & b) : int_constant(a & b);
    case Operator::kOr:
      return bools ? bool_constant(a | b) : int_constant(a | b);
    case Operator::kXor:
      return bools ? bool_constant(a ^ b) : int_constant(a ^ b);
    case Operator::kShl:
    case Operator::kShr:
      return shift(op, a, b);
    default:
      return bad_operands(op, ca, cb);
  }
}

Result<Constant> fold_floats(Operator op, const Constant& ca, const Constant& cb) {
  double a = as_double(ca), b = as_double(cb);
  switch (op) {
    case Operator::kAdd:
      return float_constant(a + b);
    case Operator::kSub:
      return float_constant(a - b);
    case Operator::kMul:
      return float_constant(a * b);
    case Operator::kDiv:
      if (b == 0) return zero_division(op);
      return float_constant(a / b);
    case Operator::kFloorDiv:
      if (b == 0) return zero_division(op);
      // Through the exact remainder, as CPython does: floor(a / b) can be off by one.
      return float_constant(std::round((a - floor_mod(a, b)) / b));
    case Operator::kMod:
      if (b == 0) return zero_division(op);
      return float_constant(floor_mod(a, b));
    case Operator::kPow: {
      if (a == 0 && b < 0) return zero_division(op);
      double power = std::pow(a, b);
      if (std::isnan(power) && !std::isnan(a) && !std::isnan(b))
        return make_error(DiagKind::kBadOperand,
                          "'**' of a negative number and a fraction is not a real number");
      return float_constant(power);
    }
    default:
      return bad_operands(op, ca, cb);
  }
}

bool is_ordering(Operator op) {
  return op == Operator::kLt || op == Operator::kLe || op == Operator::kGt || op == Operator::kGe;
}

template <class T>
bool compare(Operator op, const T& a, const T& b) {
  switch (op) {
    case Operator::kEq:
      return a == b;
    case Operator::kNe:
      return !(a == b);
    case Operator::kLt:
      return a < b;
    case Operator::kLe:
      return a <= b;
    case Operator::kGt:
      return b < a;
    default:
      return b <= a;
  }
}

bool equal(const Constant& a, const Constant& b) {
  if (is_integer(a) && is_integer(b)) return wide(a) == wide(b);
  // long double holds every 64-bit integer and every double exactly (x87; elsewhere at least as
  // wide as a double), so mixed comparisons are exact as Python's are.
  if (is_number(a) && is_number(b)) {
    auto exact = [](const Constant& x) {
      return is_integer(x) ? static_cast<long double>(wide(x)) : static_cast<long double>(x.number);
    };
    return exact(a) == exact(b);
  }
  if (a.kind != b.kind) return false;
  if (a.kind != Kind::kTuple) return a == b;
  if (a.elements.size() != b.elements.size()) return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!equal(a.elements[i], b.elements[i])) return false;
  return true;
}

Result<Constant> fold_compare(Operator op, const Constant& a, const Constant& b) {
  if (op == Operator::kEq) return bool_constant(equal(a, b));
  if (op == Operator::kNe) return bool_constant(!equal(a, b));
  if (is_integer(a) && is_integer(b)) return bool_constant(compare(op, wide(a), wide(b)));
  if (is_number(a) && is_number(b)) {
    auto exact = [](const Constant& x) {
      return is_integer(x) ? static_cast<long double>(wide(x)) : static_cast<long double>(x.number);
    };
    return bool_constant(compare(op, exact(a), exact(b)));
  }
  if (a.kind == Kind::kString && b.kind == Kind::kString)
    return bool_constant(compare(op, a.text, b.text));
  return bad_operands(op, a, b);
}

// Identity of constants is equality of kind and value: None, True and small integers behave as in
// Python, and nothing else is compared this way by real kernels.
bool identical(const Constant& a, const Constant& b) {
  return a.kind == b.kind && equal(a, b);
}

Result<Constant> fold_contains(Operator op, const Constant& item, const Constant& container) {
  bool found = false;
  if (container.kind == Kind::kTuple) {
    for (const Constant& element : container.elements) found |= equal(element, item);
  } else if (container.kind == Kind::kString && item.kind == Kind::kString) {
    found = container.text.find(item.text) != std::string::npos;
  } else {
    return bad_operands(op, item, container);
  }
  return bool_constant(found == (op == Operator::kIn));
}

constexpr size_t kMaxRepeated = 1 << 16;  // elements or characters; keeps hostile input small

Result<Constant> repeat(Operator op, const Constant& sequence, const Constant& count) {
  size_t length = sequence.kind == Kind::kTuple ? sequence.elements.size() : sequence.text.size();
  Wide times = wide(count);
  if (times < 0) times = 0;
  if (times * static_cast<Wide>(length) > static_cast<Wide>(kMaxRepeated))
    return make_error(DiagKind::kBadOperand,
                      fmt::format("'{}' would make a sequence of more than {} elements",
                                  dsl::operator_text(op), kMaxRepeated));
  Constant out;
  out.kind = sequence.kind;
  if (length == 0) return out;
  for (Wide i = 0; i < times; ++i) {
    out.text += sequence.text;
    out.elements.insert(out.elements.end(), sequence.elements.begin(), sequence.elements.end());
  }
  return out;
}

Result<Constant> fold_sequences(Operator op, const Constant& a, const Constant& b) {
  auto is_sequence = [](const Constant& x) {
    return x.kind == Kind::kTuple || x.kind == Kind::kString;
  };
  if (op == Operator::kAdd && a.kind == b.kind && is_sequence(a)) {
    Constant out = a;
    out.text += b.text;
    out.elements.insert(out.elements.end(), b.elements.begin(), b.elements.end());
    return out;
  }
  if (op == Operator::kMul && is_sequence(a) && is_integer(b)) return repeat(op, a, b);
  if (op == Operator::kMul && is_integer(a) && is_sequence(b)) return repeat(op, b, a);
  return bad_operands(op, a, b);
}

}  // namespace

double as_double(const Constant& number) {
  return is_integer(number) ? static_cast<double>(wide(number)) : number.number;
}

std::string_view python_type(const Constant& x) {
  switch (x.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "str";
    case Kind::kDtype:
      return "dtype";
    case Kind::kFunction:
      return "function";
    case Kind::kTuple:
      return "tuple";
  }
  return "value";
}

bool truth(const Constant& x) {
  switch (x.kind) {
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return x.integer != 0;
    case Kind::kFloat:
      return x.number != 0;
    case Kind::kString:
      return !x.text.empty();
    case Kind::kTuple:
      return !x.elements.empty();
    case Kind::kDtype:
    case Kind::kFunction:
      return true;
  }
  return true;
}

Result<Constant> fold_unary(Operator op, const Constant& x) {
  if (op == Operator::kNot) return bool_constant(!truth(x));
  if (is_integer(x)) {
    if (op == Operator::kNeg) return int_constant(-wide(x));
    if (op == Operator::kPos) return int_constant(wide(x));
    if (op == Operator::kInvert) return int_constant(~wide(x));
  }
  if (x.kind == Kind::kFloat) {
    if (op == Operator::kNeg) return float_constant(-x.number);
    if (op == Operator::kPos) return x;
  }
  return make_error(DiagKind::kBadOperand, fmt::format("unary '{}' is not defined for {}",
                                                       dsl::operator_text(op), python_type(x)));
}

Result<Constant> fold_binary(Operator op, const Constant& a, const Constant& b) {
  if (op == Operator::kIs) return bool_constant(identical(a, b));
  if (op == Operator::kIsNot) return bool_constant(!identical(a, b));
  if (op == Operator::kIn || op == Operator::kNotIn) return fold_contains(op, a, b);
  if (op == Operator::kEq || op == Operator::kNe || is_ordering(op)) return fold_compare(op, a, b);
  if (is_integer(a) && is_integer(b)) return fold_ints(op, a, b);
  if (is_number(a) && is_number(b)) return fold_floats(op, a, b);
  return fold_sequences(op, a, b);
}

}  // namespace tilewright::frontend
