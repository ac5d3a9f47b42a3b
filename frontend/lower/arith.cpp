// Operators on tensors with Triton's promotion rules. Constants alone fold as Python does
// (fold.h); everything else follows semantic rules that differ from both C and NumPy.
#include <fmt/format.h>

#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Operator;
using ir::Op;
using Kind = Value::Kind;

// bool < int < float, as Triton ranks a Python number against a tensor.
int rank_of_kind(Dtype dtype) {
  return dtype == Dtype::kI1 ? 0 : is_int(dtype) ? 1 : 2;
}

struct Operand {
  Dtype dtype;
  bool is_number;  // a Python number, which takes part in promotion only by its kind
};

Dtype promote(Operand a, Operand b, bool div_or_mod) {
  if (a.is_number != b.is_number) {
    Dtype number = a.is_number ? a.dtype : b.dtype, tensor = a.is_number ? b.dtype : a.dtype;
    if (rank_of_kind(number) <= rank_of_kind(tensor)) {
      bool half = tensor == Dtype::kF16 || tensor == Dtype::kBF16;
      return div_or_mod && half ? Dtype::kF32 : tensor;
    }
  }
  auto either = [&](Dtype d) { return a.dtype == d || b.dtype == d; };
  if (either(Dtype::kF64)) return Dtype::kF64;
  if (either(Dtype::kF32)) return Dtype::kF32;
  if (either(Dtype::kF16)) return div_or_mod ? Dtype::kF32 : Dtype::kF16;
  if (a.dtype == Dtype::kBF16 && b.dtype == Dtype::kBF16)
    return div_or_mod ? Dtype::kF32 : Dtype::kBF16;
  if (either(Dtype::kBF16)) return Dtype::kF32;
  if (is_fp8(a.dtype) && is_fp8(b.dtype)) return a.dtype == b.dtype ? a.dtype : Dtype::kF16;
  // An integer beside an fp8 has no rule in Triton; half precision holds both.
  if (is_fp8(a.dtype) || is_fp8(b.dtype)) return Dtype::kF16;
  return promote_integers(a.dtype, b.dtype);
}

bool is_bitwise(Operator op) {
  return op == Operator::kAnd || op == Operator::kOr || op == Operator::kXor ||
         op == Operator::kShl || op == Operator::kShr;
}

Op op_of(Operator op) {
  switch (op) {
    case Operator::kAdd:
      return Op::Add;
    case Operator::kSub:
      return Op::Sub;
    case Operator::kMul:
      return Op::Mul;
    case Operator::kDiv:
    case Operator::kFloorDiv:
      return Op::Div;
    case Operator::kMod:
      return Op::Rem;
    case Operator::kAnd:
      return Op::And;
    case Operator::kOr:
      return Op::Or;
    case Operator::kXor:
      return Op::Xor;
    case Operator::kShl:
      return Op::Shl;
    default:
      return Op::Shr;
  }
}

const char* predicate(Operator op) {
  switch (op) {
    case Operator::kEq:
      return "eq";
    case Operator::kNe:
      return "ne";
    case Operator::kLt:
      return "lt";
    case Operator::kLe:
      return "le";
    case Operator::kGt:
      return "gt";
    default:
      return "ge";
  }
}

bool is_compile_time(const Value& x) {
  return x.kind != Kind::kTensor && x.kind != Kind::kBlockPointer && x.kind != Kind::kError;
}

// Arithmetic on fp8 happens in float32 and is rounded back; hardware has none.
Value arithmetic(Lowering& lw, Op op, const Value& a, const Value& b) {
  Dtype dtype = a.type.dtype;
  if (!is_fp8(dtype)) return lw.emit_value(op, {a.id, b.id});
  ir::ValueId wide = lw.emit(op, {lw.cast(a.id, Dtype::kF32), lw.cast(b.id, Dtype::kF32)});
  return lw.wrap(lw.cast(wide, dtype));
}

Value pointer_arithmetic(Lowering& lw, Operator op, Value a, Value b, Span span, Span a_span,
                         Span b_span) {
  bool swapped = b.is_pointer() && !a.is_pointer();
  if (swapped && op == Operator::kAdd) {
    std::swap(a, b);
    std::swap(a_span, b_span);
  }
  if ((op != Operator::kAdd && op != Operator::kSub) || b.is_pointer() || !a.is_pointer())
    return lw.fail(DiagKind::kBadOperand, span,
                   fmt::format("'{}' is not defined for {} and {}; a pointer takes + and - of an "
                               "integer",
                               dsl::operator_text(op), describe(a), describe(b)));
  bool negative = op == Operator::kSub;
  if (negative && b.is_integer()) {
    b = lw.unary(Operator::kNeg, b, b_span);
    negative = false;
  }
  b = lw.to_tensor(b, b_span, "offset");
  if (b.is_error()) return b;
  if (!is_int(b.type.dtype))
    return lw.fail(DiagKind::kBadOperand, b_span,
                   fmt::format("a pointer is moved by integers, not by {}", describe(b)));
  if (negative) b = lw.emit_value(Op::Neg, {b.id});
  if (!lw.broadcast_pair(a, b, span)) return Value::error();
  return lw.emit_value(Op::PtrAdd, {a.id, b.id});
}

// `>>` is arithmetic iff the left operand's own type is signed, even where the common type is
// unsigned.
Value shift_right(Lowering& lw, const Value& a, const Value& b, bool arithmetic_shift) {
  Dtype dtype = a.type.dtype;
  if (!arithmetic_shift || is_signed(dtype) || dtype == Dtype::kI1)
    return lw.emit_value(Op::Shr, {a.id, b.id});
  auto as_signed = static_cast<Dtype>(static_cast<int>(dtype) - static_cast<int>(Dtype::kU8) +
                                      static_cast<int>(Dtype::kI8));
  ir::ValueId shifted = lw.emit(Op::Shr, {lw.cast(a.id, as_signed), lw.cast(b.id, as_signed)});
  return lw.wrap(lw.cast(shifted, dtype));
}

Value divide(Lowering& lw, Value a, Value b) {
  if (is_int(a.type.dtype)) {
    a = lw.cast(a, Dtype::kF32);
    b = lw.cast(b, Dtype::kF32);
  }
  return arithmetic(lw, Op::Div, a, b);
}

Value tuple_operator(Lowering& lw, Operator op, const Value& a, const Value& b, Span span) {
  if (op == Operator::kAdd && a.kind == Kind::kTuple && b.kind == Kind::kTuple) {
    Value out = a;
    out.elements.insert(out.elements.end(), b.elements.begin(), b.elements.end());
    return out;
  }
  const Value& tuple = a.kind == Kind::kTuple ? a : b;
  const Value& count = a.kind == Kind::kTuple ? b : a;
  if (op == Operator::kMul && tuple.kind == Kind::kTuple && count.is_integer() &&
      count.constant.integer * static_cast<int64_t>(tuple.elements.size()) <= 4096) {
    Value out = Value::tuple({});
    for (int64_t i = 0; i < count.constant.integer; ++i)
      out.elements.insert(out.elements.end(), tuple.elements.begin(), tuple.elements.end());
    return out;
  }
  return lw.fail(DiagKind::kBadOperand, span,
                 fmt::format("'{}' is not defined for {} and {}", dsl::operator_text(op),
                             describe(a), describe(b)));
}

}  // namespace

Dtype promote_integers(Dtype a, Dtype b) {
  int bits_a = dtype_bits(a), bits_b = dtype_bits(b);
  if (is_signed(a) == is_signed(b)) return bits_a > bits_b ? a : b;
  if (!is_signed(a)) return bits_a >= bits_b ? a : b;
  return bits_b >= bits_a ? b : a;
}

bool Lowering::promote_pair(Value& a, Value& b, Span span, Span a_span, Span b_span,
                            bool div_or_mod, std::string_view op) {
  bool a_number = a.is_number(), b_number = b.is_number();
  for (auto [value, at] : {std::pair(&a, a_span), std::pair(&b, b_span)}) {
    if (value->is_error()) return false;
    if (value->is_number() || (value->is_tensor() && !value->type.is_pointer)) continue;
    fail(DiagKind::kBadOperand, at,
         fmt::format("'{}' is not defined for {}", op, describe(*value)));
    return false;
  }
  auto dtype_of = [&](const Value& x) {
    return x.is_tensor() ? x.type.dtype : number_dtype(x.constant);
  };
  Operand left{dtype_of(a), a_number}, right{dtype_of(b), b_number};
  Dtype dtype = promote(left, right, div_or_mod);
  if (div_or_mod && a_number == b_number && is_int(left.dtype) && is_int(right.dtype) &&
      is_signed(left.dtype) != is_signed(right.dtype)) {
    fail(DiagKind::kTypeMismatch, span,
         fmt::format("'{}' of {} and {} mixes signed and unsigned integers; cast one of them", op,
                     describe(a), describe(b)));
    return false;
  }
  auto convert = [&](const Value& x, Span at) {
    return x.is_tensor() ? cast(x, dtype) : constant_of(x.constant, ir::Type::scalar(dtype), at);
  };
  a = convert(a, a_span);
  b = convert(b, b_span);
  return broadcast_pair(a, b, span);
}

Value Lowering::binary(Operator op, const Value& x, const Value& y, Span span, Span a_span,
                       Span b_span) {
  if (x.is_error() || y.is_error()) return Value::error();
  SpanScope at(*this, span);
  if (x.is_constant() && y.is_constant()) {
    auto folded = fold_binary(op, x.constant, y.constant);
    return folded ? Value::of(*folded) : fail(folded.error().kind, span, folded.error().message);
  }
  if (x.kind == Kind::kTuple || y.kind == Kind::kTuple)
    return tuple_operator(*this, op, x, y, span);
  if (x.is_pointer() || y.is_pointer())
    return pointer_arithmetic(*this, op, x, y, span, a_span, b_span);
  if (op == Operator::kPow || op == Operator::kMatMul)
    return fail(
        DiagKind::kBadOperand, span,
        fmt::format("'{}' is not defined for tensors; use {}", dsl::operator_text(op),
                    op == Operator::kPow ? "products, tl.exp2 or libdevice.pow" : "tl.dot"));
  Value a = x, b = y;
  bool left_signed =
      x.is_tensor() ? is_signed(x.type.dtype) : y.is_tensor() && is_signed(y.type.dtype);
  bool division = op == Operator::kDiv || op == Operator::kFloorDiv || op == Operator::kMod;
  if (!promote_pair(a, b, span, a_span, b_span, division, dsl::operator_text(op)))
    return Value::error();
  bool integers = is_int(a.type.dtype);
  if ((is_bitwise(op) || op == Operator::kFloorDiv) && !integers)
    return fail(DiagKind::kBadOperand, span,
                fmt::format("'{}' is not defined for floats ({} and {}){}", dsl::operator_text(op),
                            describe(x), describe(y),
                            op == Operator::kFloorDiv ? "; use tl.floor(a / b)" : ""));
  if (op == Operator::kDiv) return divide(*this, a, b);
  if (op == Operator::kShr) return shift_right(*this, a, b, left_signed);
  return arithmetic(*this, op_of(op), a, b);
}

Value Lowering::compare(Operator op, const Value& x, const Value& y, Span span, Span a_span,
                        Span b_span) {
  if (x.is_error() || y.is_error()) return Value::error();
  SpanScope at(*this, span);
  bool identity = op == Operator::kIs || op == Operator::kIsNot;
  bool equality = op == Operator::kEq || op == Operator::kNe;
  if (x.is_constant() && y.is_constant()) {
    auto folded = fold_binary(op, x.constant, y.constant);
    return folded ? Value::of(*folded) : fail(folded.error().kind, span, folded.error().message);
  }
  // Only values known now can be compared for identity; a tensor is never None.
  if (identity) return Value::boolean(same_value(x, y) == (op == Operator::kIs));
  if ((op == Operator::kIn || op == Operator::kNotIn) && y.kind == Kind::kTuple &&
      is_compile_time(x)) {
    bool found = false;
    for (const Value& element : y.elements) {
      Value equal = compare(Operator::kEq, x, element, span, a_span, b_span);
      if (!equal.is_constant())
        return equal.is_error() ? equal
                                : fail(DiagKind::kNotConstexpr, b_span,
                                       "'in' needs a tuple of compile-time values");
      found |= equal.constant.integer != 0;
    }
    return Value::boolean(found == (op == Operator::kIn));
  }
  if (equality && is_compile_time(x) && is_compile_time(y)) {
    bool equal = same_value(x, y);
    if (x.kind == Kind::kTuple && y.kind == Kind::kTuple &&
        x.elements.size() == y.elements.size()) {
      equal = true;
      for (size_t i = 0; i < x.elements.size(); ++i) {
        Value e = compare(Operator::kEq, x.elements[i], y.elements[i], span, a_span, b_span);
        if (!e.is_constant())
          return e.is_error() ? e
                              : fail(DiagKind::kNotConstexpr, span,
                                     "tuples of run-time values cannot be compared");
        equal &= e.constant.integer != 0;
      }
    }
    return Value::boolean(equal == (op == Operator::kEq));
  }
  Value a = x, b = y;
  if (!promote_pair(a, b, span, a_span, b_span, false, dsl::operator_text(op)))
    return Value::error();
  if (is_fp8(a.type.dtype)) {
    a = cast(a, Dtype::kF32);
    b = cast(b, Dtype::kF32);
  }
  return emit_value(Op::Cmp, {a.id, b.id}, {{"pred", std::string(predicate(op))}});
}

Value Lowering::unary(Operator op, const Value& x, Span span) {
  if (x.is_error()) return x;
  SpanScope at(*this, span);
  if (x.is_constant()) {
    auto folded = fold_unary(op, x.constant);
    return folded ? Value::of(*folded) : fail(folded.error().kind, span, folded.error().message);
  }
  if (op == Operator::kNot && is_compile_time(x))
    return Value::boolean(x.kind == Kind::kTuple && x.elements.empty());
  if (!x.is_tensor() || x.type.is_pointer)
    return fail(
        DiagKind::kBadOperand, span,
        fmt::format("unary '{}' is not defined for {}", dsl::operator_text(op), describe(x)));
  if (op == Operator::kPos) return x;
  if (op == Operator::kNot && x.type.dtype != Dtype::kI1)
    return fail(
        DiagKind::kTypeMismatch, span,
        fmt::format("'not' needs int1, but its operand is {}; compare with 0", describe(x)));
  if (op == Operator::kInvert && !is_int(x.type.dtype))
    return fail(DiagKind::kBadOperand, span,
                fmt::format("unary '~' is not defined for floats ({})", describe(x)));
  if (op != Operator::kNeg) return emit_value(Op::Not, {x.id});
  if (!is_fp8(x.type.dtype)) return emit_value(Op::Neg, {x.id});
  Dtype dtype = x.type.dtype;
  return wrap(cast(emit(Op::Neg, {cast(x.id, Dtype::kF32)}), dtype));
}

}  // namespace tilewright::frontend
