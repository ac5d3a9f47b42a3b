// tl.dot: the checks that Triton makes, with the smallest extents that hardware takes.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

namespace {

bool multiplies(Dtype dtype) {
  switch (dtype) {
    case Dtype::kI8:
    case Dtype::kU8:
    case Dtype::kF16:
    case Dtype::kBF16:
    case Dtype::kF32:
    case Dtype::kF64:
      return true;
    default:
      return is_fp8(dtype);
  }
}

bool is_byte(Dtype dtype) {
  return dtype == Dtype::kI8 || dtype == Dtype::kU8;
}

int64_t smallest_k(Dtype dtype) {
  switch (dtype_bits(dtype)) {
    case 8:
      return 32;
    case 16:
      return 16;
    case 32:
      return 8;
    default:
      return 4;
  }
}

bool check_operands(Lowering& lw, const Call& call, const Value& a, const Value& b) {
  for (size_t i = 0; i < 2; ++i) {
    const Value& x = i == 0 ? a : b;
    if (!x.type.is_pointer && x.type.is_tile() && multiplies(x.type.dtype)) continue;
    lw.fail(x.type.is_tile() ? DiagKind::kTypeMismatch : DiagKind::kDotShapeMismatch, call.spans[i],
            x.type.is_tile()
                ? fmt::format("tl.dot multiplies int8, uint8, fp8, float16, bfloat16, float32 and "
                              "float64, but this is {}",
                              describe(x))
                : fmt::format("tl.dot multiplies tiles, but this is {}", describe(x)));
    return false;
  }
  // Both fp8 formats may meet, and (beyond Triton) signed and unsigned bytes.
  bool bytes = is_byte(a.type.dtype) && is_byte(b.type.dtype);
  bool fp8 = is_fp8(a.type.dtype) && is_fp8(b.type.dtype);
  if (a.type.dtype != b.type.dtype && !fp8 && !bytes) {
    lw.fail(DiagKind::kTypeMismatch, call.span,
            fmt::format("tl.dot needs operands of one dtype, but they are {} and {}; convert one "
                        "with .to()",
                        describe(a), describe(b)));
    return false;
  }
  return true;
}

bool check_shapes(Lowering& lw, const Call& call, const Value& a, const Value& b) {
  const ir::Shape &x = a.type.shape, &y = b.type.shape;
  size_t rank = x.size();
  if (rank != y.size() || (rank != 2 && rank != 3)) {
    lw.fail(
        DiagKind::kDotShapeMismatch, call.span,
        fmt::format("tl.dot multiplies two tiles of 2 (or 3) dimensions, but they are {} and {}",
                    describe(a), describe(b)));
    return false;
  }
  if (x[rank - 1] != y[rank - 2] || (rank == 3 && x[0] != y[0])) {
    lw.fail(DiagKind::kDotShapeMismatch, call.span,
            fmt::format("tl.dot of {} and {}: the {} differ", describe(a), describe(b),
                        x[rank - 1] != y[rank - 2]
                            ? fmt::format("columns of the first, {}, and rows of the second, {},",
                                          x[rank - 1], y[rank - 2])
                            : fmt::format("batches {} and {}", x[0], y[0])));
    return false;
  }
  int64_t least = std::min(smallest_k(a.type.dtype), smallest_k(b.type.dtype));
  if (x[rank - 1] < least) {
    lw.fail(DiagKind::kDotShapeMismatch, call.span,
            fmt::format("tl.dot of {} needs at least {} columns in its first operand, but it is {}",
                        dtype_triton_name(a.type.dtype), least, describe(a)));
    return false;
  }
  return true;
}

// The result's dtype, from the operands, out_dtype and the accumulator's dtype.
std::optional<Dtype> result_dtype(Lowering& lw, const Call& call, Dtype operand, const Value& acc) {
  if (is_byte(operand)) return Dtype::kI32;
  if (operand == Dtype::kF64) return Dtype::kF64;
  std::optional<ir::Type> asked;
  if (!call.args[6].is_none()) {
    asked = lw.type_argument(call, 6);
    if (!asked) return std::nullopt;
  }
  if (asked && asked->dtype == Dtype::kBF16) {
    lw.fail(DiagKind::kBadArgument, call.spans[6],
            "tl.dot has no bfloat16 result; use float32 and convert with .to(tl.bfloat16)");
    return std::nullopt;
  }
  if (operand == Dtype::kF32 || operand == Dtype::kBF16) return Dtype::kF32;
  if (asked) {
    if (asked->dtype == Dtype::kF32 || asked->dtype == Dtype::kF16) return asked->dtype;
    lw.fail(DiagKind::kBadArgument, call.spans[6],
            fmt::format("the result of tl.dot is float32 or float16 here, not {}",
                        dtype_triton_name(asked->dtype)));
    return std::nullopt;
  }
  bool half = acc.is_tensor() && acc.type.dtype == Dtype::kF16;
  return half ? Dtype::kF16 : Dtype::kF32;
}

std::optional<std::string> precision(Lowering& lw, const Call& call) {
  auto word = lw.constant_string(call, 3);
  if (!word) return std::nullopt;
  if (!call.args[4].is_none()) {
    auto allow = lw.constant_bool(call, 4);
    if (!allow) return std::nullopt;
    if (!word->empty()) {
      lw.fail(DiagKind::kBadArgument, call.spans[4],
              "allow_tf32 and input_precision exclude each other; keep input_precision");
      return std::nullopt;
    }
    return *allow ? "tf32" : "ieee";
  }
  std::string lower = *word;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower.empty() || lower == "tf32" || lower == "tf32x3" || lower == "ieee")
    return lower.empty() ? "tf32" : lower;
  // As exact as bf16x6, which takes as long, and more exact than bf16x3.
  if (lower == "bf16x3" || lower == "bf16x6") return "tf32x3";
  lw.fail(DiagKind::kBadArgument, call.spans[3],
          fmt::format("input_precision is 'tf32', 'tf32x3', 'bf16x3', 'bf16x6' or 'ieee', not '{}'",
                      *word));
  return std::nullopt;
}

// The value that the product is added to: acc, or zeros.
Value accumulator(Lowering& lw, const Call& call, const Value& a, const Value& b, Dtype dtype) {
  Value acc = call.args[2];
  if (acc.is_error()) return acc;
  ir::Shape shape = a.type.shape;
  shape.back() = b.type.shape.back();
  if (!lw.check_shape(shape, call.span)) return Value::error();
  ir::Type result{dtype, false, shape};
  if (acc.is_none())
    return lw.wrap(is_float(dtype) ? lw.builder.constant_float(result, 0)
                                   : lw.builder.constant_int(result, 0));
  if (acc.is_tensor() && acc.type == result) return acc;
  bool shapes_differ = acc.is_tensor() && acc.type.shape != shape;
  return lw.fail(shapes_differ ? DiagKind::kDotShapeMismatch : DiagKind::kTypeMismatch,
                 call.spans[2],
                 fmt::format("tl.dot adds to {}, but acc is {}", type_text(result), describe(acc)));
}

}  // namespace

Value lower_dot(Lowering& lw, const Call& call) {
  Value a = lw.tensor_argument(call, 0), b = lw.tensor_argument(call, 1);
  if (a.is_error() || b.is_error()) return Value::error();
  if (!check_operands(lw, call, a, b) || !check_shapes(lw, call, a, b)) return Value::error();
  auto dtype = result_dtype(lw, call, a.type.dtype, call.args[2]);
  auto how = precision(lw, call);
  if (!dtype || !how) return Value::error();
  Value acc = accumulator(lw, call, a, b, *dtype);
  if (acc.is_error()) return Value::error();
  ir::Attrs attrs;
  if (a.type.dtype == Dtype::kF32 && *how != "tf32") attrs.set("precision", *how);
  if (!call.args[5].is_none()) {
    auto imprecise = lw.constant_int(call, 5);
    if (!imprecise) return Value::error();
    if (*imprecise < 0 || *imprecise > a.type.shape.back())
      return lw.fail(DiagKind::kBadArgument, call.spans[5],
                     fmt::format("max_num_imprecise_acc is {}, but this dot sums over {}",
                                 *imprecise, a.type.shape.back()));
    if (is_fp8(a.type.dtype)) attrs.set("max_imprecise", *imprecise);
  }
  return lw.emit_value(Op::Dot, {a.id, b.id, acc.id}, attrs);
}

// Two 4-bit integers in each byte, consecutive along K.
Value lower_dot_int4(Lowering& lw, const Call& call) {
  Value a = lw.tensor_argument(call, 0), b = lw.tensor_argument(call, 1);
  if (a.is_error() || b.is_error()) return Value::error();
  for (size_t i = 0; i < 2; ++i) {
    const Value& x = i == 0 ? a : b;
    if (x.type.is_tile() && !x.type.is_pointer && is_byte(x.type.dtype)) continue;
    return lw.fail(DiagKind::kTypeMismatch, call.spans[i],
                   fmt::format("dot_int4 multiplies tiles of int8 or uint8 that hold two 4-bit "
                               "integers each, but this is {}",
                               describe(x)));
  }
  if (!check_shapes(lw, call, a, b)) return Value::error();
  Value acc = accumulator(lw, call, a, b, Dtype::kI32);
  if (acc.is_error()) return acc;
  return lw.emit_value(Op::Dot, {a.id, b.id, acc.id}, ir::Attrs{{"nibbles", int64_t{1}}});
}

}  // namespace tilewright::frontend
