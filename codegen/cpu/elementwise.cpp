// Element-wise ops on lanes. One handler an op, found through the op table; the rules are those of
// dsl/LANGUAGE.md, "Numerics contract".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::Op;
using ir::OpNode;

namespace {

using V = Calc::V;

// One element-wise op at one width. `x` are the operands' register images.
struct LaneOp {
  Emitter& e;
  const OpNode& op;
  int width;
  std::vector<V> x;
  ir::Type type;    // element type of operand 0 (of select: operand 1)
  ir::Type result;  // element type of the result

  Dtype dtype() const { return type.dtype; }
  bool floats() const { return !type.is_pointer && is_float(type.dtype); }
  bool is_signed_int() const { return !type.is_pointer && is_signed(type.dtype); }
  // On the register images (ints, bits of narrow floats).
  Calc bits() const { return {e, register_type(type), width}; }
  // float or double, for float dtypes.
  Calc wide() const { return {e, compute_type(type.dtype), width}; }
  V widened(size_t i) const { return to_compute(wide(), x[i], type.dtype); }
  V narrowed(const V& value) const { return from_compute(wide(), value, type.dtype); }
};

using LaneHandler = V (*)(const LaneOp&);

V arithmetic(const LaneOp& o, std::string_view integer, std::string_view floating) {
  if (!o.floats()) return o.bits().op(integer, o.x[0], o.x[1]);
  return o.narrowed(o.wide().op(floating, o.widened(0), o.widened(1)));
}

V lanes_Add(const LaneOp& o) {
  return arithmetic(o, "add", "fadd");
}
V lanes_Sub(const LaneOp& o) {
  return arithmetic(o, "sub", "fsub");
}
V lanes_Mul(const LaneOp& o) {
  return arithmetic(o, "mul", "fmul");
}

// Divisors for which the machine instruction would trap are replaced by 1.
struct SafeDivisor {
  V divisor, is_zero;
};
SafeDivisor safe_divisor(const LaneOp& o) {
  Calc c = o.bits();
  V is_zero = c.icmp("eq", o.x[1], c.ci(0));
  V unsafe = is_zero;
  if (o.is_signed_int()) {
    int bits = dtype_bits(o.dtype());
    int64_t smallest = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    V overflows =
        c.as("i1").and_(c.icmp("eq", o.x[0], c.ci(smallest)), c.icmp("eq", o.x[1], c.ci(-1)));
    unsafe = c.as("i1").or_(is_zero, overflows);
  }
  return {c.select(unsafe, c.ci(1), o.x[1]), is_zero};
}

// x86 has no vector division of integers. Quotients of numbers of up to 32 bits are exact after
// truncation when divided as doubles: a quotient that is no integer is at least 2^-32 away from
// one, and doubles below 2^32 are spaced by 2^-21 at most.
V quotient(const LaneOp& o, const V& divisor) {
  Calc c = o.bits();
  bool is_signed_type = o.is_signed_int();
  bool by_double = o.width > 1 && dtype_bits(o.dtype()) <= 32 && !is_constant(o.x[1]);
  if (!by_double) return c.op(is_signed_type ? "sdiv" : "udiv", o.x[0], divisor);
  Calc d = c.as("double");
  std::string_view in = is_signed_type ? "sitofp" : "uitofp";
  V q = d.fdiv(c.convert(in, o.x[0], "double"), c.convert(in, divisor, "double"));
  // Wider than the result, so that the conversion is defined whatever masked-off lanes hold.
  return c.as("i64").convert("trunc", d.convert("fptosi", q, "i64"), c.element());
}

V lanes_Div(const LaneOp& o) {
  if (o.floats()) return o.narrowed(o.wide().fdiv(o.widened(0), o.widened(1)));
  SafeDivisor safe = safe_divisor(o);
  return o.bits().select(safe.is_zero, o.bits().ci(-1), quotient(o, safe.divisor));
}
V lanes_DivRn(const LaneOp& o) {
  return lanes_Div(o);
}

V lanes_Rem(const LaneOp& o) {
  if (o.floats()) {
    Calc c = o.wide();
    return o.narrowed(
        c.library_call(c.element() == "double" ? "fmod" : "fmodf", {o.widened(0), o.widened(1)}));
  }
  SafeDivisor safe = safe_divisor(o);
  Calc c = o.bits();
  V rest = c.sub(o.x[0], c.mul(quotient(o, safe.divisor), safe.divisor));
  return c.select(safe.is_zero, o.x[0], rest);
}

V lanes_And(const LaneOp& o) {
  return o.bits().and_(o.x[0], o.x[1]);
}
V lanes_Or(const LaneOp& o) {
  return o.bits().or_(o.x[0], o.x[1]);
}
V lanes_Xor(const LaneOp& o) {
  return o.bits().xor_(o.x[0], o.x[1]);
}
V lanes_Not(const LaneOp& o) {
  return o.bits().xor_(o.x[0], o.bits().ci(-1));
}

// LLVM leaves shifts by the width or more undefined.
V lanes_Shl(const LaneOp& o) {
  Calc c = o.bits();
  int width = dtype_bits(o.dtype());
  V in_range = c.icmp("ult", o.x[1], c.ci(width));
  V amount = c.select(in_range, o.x[1], c.ci(0));
  return c.select(in_range, c.op("shl", o.x[0], amount), c.ci(0));
}

V lanes_Shr(const LaneOp& o) {
  Calc c = o.bits();
  int width = dtype_bits(o.dtype());
  V in_range = c.icmp("ult", o.x[1], c.ci(width));
  if (o.is_signed_int()) return c.op("ashr", o.x[0], c.select(in_range, o.x[1], c.ci(width - 1)));
  V amount = c.select(in_range, o.x[1], c.ci(0));
  return c.select(in_range, c.op("lshr", o.x[0], amount), c.ci(0));
}

V lanes_min_max(const LaneOp& o, bool want_max) {
  bool propagate = o.op.attrs.get_word("nan") == "propagate";
  return min_max(o.e, want_max, propagate, o.dtype(), o.width, o.x[0], o.x[1]);
}
V lanes_Min(const LaneOp& o) {
  return lanes_min_max(o, false);
}
V lanes_Max(const LaneOp& o) {
  return lanes_min_max(o, true);
}

V lanes_MulHi(const LaneOp& o) {
  Calc c = o.bits();
  int bits = dtype_bits(o.dtype());
  std::string wide = "i" + std::to_string(2 * bits);
  std::string_view extend = o.is_signed_int() ? "sext" : "zext";
  Calc w = c.as(wide);
  V product = w.mul(c.convert(extend, o.x[0], wide), c.convert(extend, o.x[1], wide));
  return w.convert("trunc", w.lshr(product, bits), c.element());
}

V lanes_Fma(const LaneOp& o) {
  return o.narrowed(o.wide().fma(o.widened(0), o.widened(1), o.widened(2)));
}

V lanes_Cmp(const LaneOp& o) {
  std::string pred(o.op.attrs.get_word("pred"));
  if (o.floats())
    return o.wide().fcmp((pred == "ne" ? "u" : "o") + pred, o.widened(0), o.widened(1));
  if (pred != "eq" && pred != "ne") pred = (o.is_signed_int() ? "s" : "u") + pred;
  return o.bits().icmp(pred, o.x[0], o.x[1]);
}

V lanes_Select(const LaneOp& o) {
  return o.bits().select(o.x[0], o.x[1], o.x[2]);
}

int64_t sign_bit(Dtype dtype) {
  return -(int64_t{1} << (dtype_bits(dtype) - 1));  // as a signed number of that width
}

V lanes_Neg(const LaneOp& o) {
  Calc c = o.bits();
  if (!o.floats()) return c.sub(c.ci(0), o.x[0]);
  if (c.element()[0] != 'i') return c.fneg(o.x[0]);
  return c.xor_(o.x[0], c.ci(sign_bit(o.dtype())));
}

V lanes_Abs(const LaneOp& o) {
  Calc c = o.bits();
  if (o.floats()) {
    if (c.element()[0] != 'i') return c.intrinsic("fabs", {o.x[0]});
    return c.and_(o.x[0], c.ci(~sign_bit(o.dtype())));
  }
  if (!o.is_signed_int()) return o.x[0];
  return c.select(c.icmp("slt", o.x[0], c.ci(0)), c.sub(c.ci(0), o.x[0]), o.x[0]);
}

V function(const LaneOp& o) {
  return o.narrowed(math_function(o.wide(), o.op.op, o.widened(0)));
}
V lanes_Exp(const LaneOp& o) {
  return function(o);
}
V lanes_Exp2(const LaneOp& o) {
  return function(o);
}
V lanes_Log(const LaneOp& o) {
  return function(o);
}
V lanes_Log2(const LaneOp& o) {
  return function(o);
}
V lanes_Sin(const LaneOp& o) {
  return function(o);
}
V lanes_Cos(const LaneOp& o) {
  return function(o);
}
V lanes_Tanh(const LaneOp& o) {
  return function(o);
}
V lanes_Sqrt(const LaneOp& o) {
  return function(o);
}
V lanes_SqrtRn(const LaneOp& o) {
  return function(o);
}
V lanes_Rsqrt(const LaneOp& o) {
  return function(o);
}
V lanes_Erf(const LaneOp& o) {
  return function(o);
}
V lanes_Floor(const LaneOp& o) {
  return function(o);
}
V lanes_Ceil(const LaneOp& o) {
  return function(o);
}

V lanes_Cast(const LaneOp& o) {
  return cast_lanes(o.bits(), o.x[0], o.type, o.result, o.op.attrs.get_word("rounding") == "rtz");
}

V lanes_Bitcast(const LaneOp& o) {
  std::string from = register_type(o.type), to = register_type(o.result);
  if (from == to) return o.x[0];
  if (from == "ptr") return o.bits().convert("ptrtoint", o.x[0], to);
  if (to == "ptr") return o.bits().convert("inttoptr", o.x[0], to);
  return o.bits().bitcast(o.x[0], to);
}

V lanes_PtrAdd(const LaneOp& o) {
  ir::Type offset = o.e.type(o.op.operands[1]).element();
  Calc c(o.e, register_type(offset), o.width);
  V wide = o.x[1];
  if (dtype_bits(offset.dtype) < 64)
    wide = c.convert(is_signed(offset.dtype) ? "sext" : "zext", wide, "i64");
  ir::Type pointee{o.type.dtype, false, {}};
  return o.e.text.let(fmt::format("getelementptr {}, {} {}, {} {}", memory_type(pointee),
                                  vector_type("ptr", o.width), o.x[0], vector_type("i64", o.width),
                                  wide));
}

constexpr LaneHandler kLaneHandlers[] = {
#define TW_OP(name, ...) nullptr,
#define TW_EW_OP(name, ...) lanes_##name,
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};
static_assert(std::size(kLaneHandlers) == ir::kOpCount);

V run_handler(Emitter& e, const OpNode& op, std::vector<V> operands, int width) {
  ir::Type type = e.type(op.operands[op.op == Op::Select ? 1 : 0]).element();
  LaneOp lane_op{e, op, width, std::move(operands), type, e.type(op.results[0]).element()};
  return kLaneHandlers[static_cast<size_t>(op.op)](lane_op);
}

// ---- what stays affine: base + constant offsets ----

bool is_plain_int(const ir::Type& type) {
  return !type.is_pointer && is_int(type.dtype) && type.dtype != Dtype::kI1;
}

std::vector<int64_t> combine_offsets(const Lanes& a, const Lanes& b, int width, int64_t sign) {
  std::vector<int64_t> out;
  for (size_t l = 0; l < static_cast<size_t>(width); ++l)
    out.push_back((a.offsets.empty() ? 0 : a.offsets[l]) +
                  sign * (b.offsets.empty() ? 0 : b.offsets[l]));
  return out;
}

bool literal(const Lanes& lanes, int64_t& value) {
  if (!lanes.is_uniform() || !is_constant(lanes.scalar)) return false;
  const char* end = lanes.scalar.data() + lanes.scalar.size();
  auto [at, error] = std::from_chars(lanes.scalar.data(), end, value);
  return error == std::errc() && at == end;
}

// The affine form of the result and nothing else, or an empty Lanes.
Lanes affine_form(Emitter& e, const OpNode& op, const std::vector<Lanes>& x, int width) {
  ir::Type type = e.type(op.operands[0]).element();
  bool both = x.size() == 2 && x[0].has_affine_form() && x[1].has_affine_form();
  std::vector<V> bases;
  for (const Lanes& lanes : x) bases.push_back(lanes.scalar);
  if ((op.op == Op::Add || op.op == Op::Sub) && is_plain_int(type) && both)
    return {run_handler(e, op, bases, 1),
            {},
            combine_offsets(x[0], x[1], width, op.op == Op::Add ? 1 : -1),
            {}};
  if (op.op == Op::Mul && is_plain_int(type) && both) {
    int64_t factor = 0;
    bool right = literal(x[1], factor);
    if (!right && !literal(x[0], factor)) return {};
    const Lanes& moving = right ? x[0] : x[1];
    // Offsets must stay far from wrapping.
    if (std::abs(factor) > (int64_t{1} << 20)) return {};
    Lanes out{run_handler(e, op, bases, 1), {}, moving.offsets, {}};
    for (int64_t& offset : out.offsets) offset *= factor;
    return out;
  }
  if (op.op == Op::Cast && is_plain_int(type) && x[0].has_affine_form()) {
    const ir::Type result = e.type(op.results[0]).element();
    if (!is_plain_int(result) || dtype_bits(type.dtype) < 32 || dtype_bits(result.dtype) < 32)
      return {};
    return {run_handler(e, op, bases, 1), {}, x[0].offsets, {}};
  }
  if (op.op == Op::PtrAdd && both) {
    Lanes scaled = x[1];
    for (int64_t& offset : scaled.offsets) offset *= dtype_bytes(type.dtype);
    return {run_handler(e, op, bases, 1), {}, combine_offsets(x[0], scaled, width, 1), {}};
  }
  return {};
}

// Whether the affine form gives the exact lanes: not where narrower numbers are extended, or an
// operand is inexact already.
bool is_exact(Emitter& e, const OpNode& op, const std::vector<Lanes>& x) {
  for (const Lanes& lanes : x)
    if (lanes.exact) return false;
  if (op.op == Op::Cast)
    return dtype_bits(e.type(op.results[0]).dtype) <= dtype_bits(e.type(op.operands[0]).dtype);
  if (op.op == Op::PtrAdd && x[1].is_affine())
    return dtype_bits(e.type(op.operands[1]).dtype) == 64;
  return true;
}

}  // namespace

V Emitter::exact_vector(const OpNode& op, const std::vector<Lanes>& operands, int width) {
  std::vector<V> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(vector(operands[i], type(op.operands[i]).element(), width));
  return run_handler(*this, op, std::move(values), width);
}

Lanes Emitter::apply(const OpNode& op, const std::vector<Lanes>& operands, int width) {
  bool uniform = std::all_of(operands.begin(), operands.end(),
                             [](const Lanes& lanes) { return lanes.is_uniform(); });
  if (uniform) {
    std::vector<V> values;
    for (const Lanes& lanes : operands) values.push_back(lanes.scalar);
    return Lanes::uniform(run_handler(*this, op, std::move(values), 1));
  }
  Lanes affine = affine_form(*this, op, operands, width);
  if (!affine.has_affine_form()) return Lanes::of_vector(exact_vector(op, operands, width));
  if (!is_exact(*this, op, operands))
    affine.exact = std::make_shared<const ExactLanes>(ExactLanes{op, operands});
  return affine;
}

V min_max(Emitter& e, bool want_max, bool propagate_nan, Dtype dtype, int width, const V& a,
          const V& b) {
  ir::Type type = ir::Type::scalar(dtype);
  Calc bits(e, register_type(type), width);
  if (is_int(dtype)) {
    std::string pred = std::string(is_signed(dtype) ? "s" : "u") + (want_max ? "gt" : "lt");
    return bits.select(bits.icmp(pred, a, b), a, b);
  }
  // Equal numbers are equal bits, or zeros of two signs: or-ing the bits gives -0, and-ing +0.
  Calc wide(e, compute_type(dtype), width);
  V wa = to_compute(wide, a, dtype), wb = to_compute(wide, b, dtype);
  std::string image = "i" + std::to_string(dtype_bits(dtype));
  Calc ints = bits.as(image);
  auto as_int = [&](const V& v) { return bits.element() == image ? v : bits.bitcast(v, image); };
  V ia = as_int(a), ib = as_int(b);
  V same = want_max ? ints.and_(ia, ib) : ints.or_(ia, ib);
  V best = ints.select(wide.fcmp(want_max ? "ogt" : "olt", wa, wb), ia, ib);
  best = ints.select(wide.fcmp("oeq", wa, wb), same, best);
  // Unordered gave b so far: right if a is the NaN that loses, or b the one that wins.
  best = propagate_nan ? ints.select(wide.fcmp("uno", wa, wa), ia, best)
                       : ints.select(wide.fcmp("uno", wb, wb), ia, best);
  return bits.element() == image ? best : ints.bitcast(best, bits.element());
}

V add_lanes(Emitter& e, Dtype dtype, int width, const V& a, const V& b) {
  Calc bits(e, register_type(ir::Type::scalar(dtype)), width);
  if (is_int(dtype)) return bits.add(a, b);
  Calc wide(e, compute_type(dtype), width);
  return from_compute(wide, wide.fadd(to_compute(wide, a, dtype), to_compute(wide, b, dtype)),
                      dtype);
}

}  // namespace tilewright::cpu
