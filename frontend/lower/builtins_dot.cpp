// tl.dot: the checks that Triton makes, with the smallest extents that hardware takes. And the
// products that Triton has no word for.
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

// The arguments of another product in the places where tl.dot has them.
Call as_dot(const Call& call, size_t a, size_t b, size_t acc, size_t out_dtype) {
  Call dot = call;
  dot.args.assign(7, Value::none());
  dot.spans.assign(7, call.span);
  const size_t places[][2] = {{0, a}, {1, b}, {2, acc}, {6, out_dtype}};
  for (auto [to, from] : places) {
    dot.args[to] = call.args[from];
    dot.spans[to] = call.spans[from];
  }
  return dot;
}

// What is wrong with the places of a sparse matrix's values; true if nothing is.
bool check_places(Lowering& lw, const Call& call, const Value& a, const Value& places) {
  int64_t bits = a.type.dtype == Dtype::kF32 ? 4 : 2;
  if (!places.type.is_tile() || places.type.is_pointer || !is_int(places.type.dtype) ||
      places.type.dtype == Dtype::kI1 || dtype_bits(places.type.dtype) > 32) {
    lw.fail(DiagKind::kTypeMismatch, call.spans[1],
            fmt::format("the metadata of dot_sparse is a tile of integers of 8, 16 or 32 bits, but "
                        "this is {}",
                        describe(places)));
    return false;
  }
  const ir::Shape &x = a.type.shape, &y = places.type.shape;
  if (y.size() == 2 && y[0] == x[0] && y[1] * dtype_bits(places.type.dtype) == x[1] * bits)
    return true;
  lw.fail(DiagKind::kDotShapeMismatch, call.spans[1],
          fmt::format("the metadata of dot_sparse has {} bits for each value of {}, but this is {}",
                      bits, describe(a), describe(places)));
  return false;
}

// An operand of dot_scaled as the IR has it: fp8, or u8 for two e2m1 numbers in a byte. Nothing for
// other forms, which library.py computes.
std::optional<Value> scaled_operand(Lowering& lw, const Value& x, const std::string& format,
                                    bool k_pack) {
  if (!x.is_tensor() || x.type.is_pointer || x.type.rank() != 2) return std::nullopt;
  const bool nibbles = format == "e2m1";
  const Dtype wanted = nibbles ? Dtype::kU8 : format == "e4m3" ? Dtype::kF8E4M3 : Dtype::kF8E5M2;
  if ((nibbles && !k_pack) || (!nibbles && format != "e4m3" && format != "e5m2"))
    return std::nullopt;
  if (x.type.dtype == wanted) return x;
  if (!is_byte(x.type.dtype)) return std::nullopt;
  return lw.emit_value_as(Op::Bitcast, x.type.with_dtype(wanted), {x.id});
}

// The scales of one operand, or ones of the type of the other's where it has none.
Value scales_of(Lowering& lw, const Call& call, size_t index, ir::Shape ones, Dtype other) {
  const Value& scale = call.args[index];
  if (scale.is_none()) {
    ir::Type type = ir::Type::tile(other, std::move(ones));
    return lw.wrap(other == Dtype::kU8 ? lw.builder.constant_int(type, 127)
                                       : lw.builder.constant_float(type, 1.0));
  }
  if (scale.type.dtype != Dtype::kI8) return scale;
  return lw.emit_value_as(Op::Bitcast, scale.type.with_dtype(Dtype::kU8), {scale.id});
}

bool check_scales(Lowering& lw, const Call& call, size_t index, const ir::Type& wanted) {
  const Value& scale = call.args[index];
  if (scale.is_none() || scale.type == wanted ||
      (wanted.dtype == Dtype::kU8 && scale.type == wanted.with_dtype(Dtype::kI8)))
    return true;
  lw.fail(
      DiagKind::kDotShapeMismatch, call.spans[index],
      fmt::format("dot_scaled: one scale (uint8) goes with 32 values along K, here {}, but this "
                  "is {}; where both operands are e2m1, float8e4nv scales go with 16",
                  type_text(wanted), describe(scale)));
  return false;
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

// The formats of 8 and 4 bits as one op; other forms by the library's function.
Value lower_dot_scaled(Lowering& lw, const Call& given) {
  auto lhs = lw.constant_string(given, 2), rhs = lw.constant_string(given, 5);
  auto lhs_pack = lw.constant_bool(given, 8), rhs_pack = lw.constant_bool(given, 9);
  if (!lhs || !rhs || !lhs_pack || !rhs_pack) return Value::error();
  auto a = scaled_operand(lw, given.args[0], *lhs, *lhs_pack),
       b = scaled_operand(lw, given.args[3], *rhs, *rhs_pack);
  const Value &x = given.args[1], &y = given.args[4];
  auto is_scale = [](const Value& scale) { return scale.is_none() || scale.type.is_tile(); };
  if (!a || !b || (x.is_none() && y.is_none()) || !is_scale(x) || !is_scale(y))
    return lw.call_library("dot_scaled", given.args, given.span);
  const int64_t a_each = *lhs == "e2m1" ? 2 : 1, b_each = *rhs == "e2m1" ? 2 : 1;
  const int64_t m = a->type.shape[0], n = b->type.shape[1], k = a->type.shape[1] * a_each;
  if (k != b->type.shape[0] * b_each)
    return lw.fail(DiagKind::kDotShapeMismatch, given.span,
                   fmt::format("dot_scaled of {} and {}: the first has {} values along K, the "
                               "second {}",
                               describe(*a), describe(*b), k, b->type.shape[0] * b_each));
  const bool fine =
      a_each == 2 && b_each == 2 && (x.is_none() ? y : x).type.dtype == Dtype::kF8E4M3;
  const Dtype dtype = fine ? Dtype::kF8E4M3 : Dtype::kU8;
  const int64_t groups = k / (fine ? 16 : 32);
  if (!check_scales(lw, given, 1, ir::Type::tile(dtype, {m, groups})) ||
      !check_scales(lw, given, 4, ir::Type::tile(dtype, {n, groups})))
    return Value::error();
  Value scale_a = scales_of(lw, given, 1, {m, groups}, dtype),
        scale_b = scales_of(lw, given, 4, {n, groups}, dtype);
  Call call = as_dot(given, 0, 3, 6, 10);
  Value acc = accumulator(lw, call, *a, *b, Dtype::kF32);
  if (acc.is_error()) return acc;
  Value sum = lw.emit_value(Op::Dot, {a->id, b->id, acc.id, scale_a.id, scale_b.id}, ir::Attrs{});
  if (call.args[6].is_none()) return sum;
  auto asked = lw.type_argument(call, 6);
  return asked ? lw.cast(sum, asked->dtype) : Value::error();
}

// Of each four values of a row of the left matrix two (of float32: of two, one), and their places.
Value lower_dot_sparse(Lowering& lw, const Call& given) {
  Call call = as_dot(given, 0, 2, 3, 4);
  Value a = lw.tensor_argument(given, 0), places = lw.tensor_argument(given, 1),
        b = lw.tensor_argument(given, 2);
  if (a.is_error() || places.is_error() || b.is_error()) return Value::error();
  if (!check_operands(lw, call, a, b)) return Value::error();
  if (a.type.rank() != 2 || a.type.dtype == Dtype::kF64)
    return lw.fail(DiagKind::kDotShapeMismatch, call.spans[0],
                   fmt::format("dot_sparse multiplies matrices of up to 32 bits, but this is {}",
                               describe(a)));
  Value dense = a;  // as the matrix written out
  dense.type.shape[1] *= 2;
  if (!check_shapes(lw, call, dense, b) || !check_places(lw, given, a, places))
    return Value::error();
  auto dtype = result_dtype(lw, call, a.type.dtype, call.args[2]);
  if (!dtype) return Value::error();
  Value acc = accumulator(lw, call, dense, b, *dtype);
  if (acc.is_error()) return acc;
  return lw.emit_value(Op::Dot, {a.id, b.id, acc.id, places.id}, {});
}

}  // namespace tilewright::frontend
