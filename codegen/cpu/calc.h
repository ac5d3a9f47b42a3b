// Arithmetic on lanes of one LLVM type, as a small assembler: each call emits one instruction and
// gives its value. Constants are spelled for the width.
#pragma once

#include <string>
#include <string_view>

#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

class Calc {
 public:
  using V = std::string;

  // `element`: float, double, or iN.
  Calc(Emitter& e, std::string element, int width)
      : e_(e), element_(std::move(element)), width_(width), type_(vector_type(element_, width)) {}

  const std::string& type() const { return type_; }
  const std::string& element() const { return element_; }
  int width() const { return width_; }
  Emitter& emitter() const { return e_; }
  Calc as(std::string element) const { return {e_, std::move(element), width_}; }

  V c(double value) const {
    if (element_ == "float") value = static_cast<double>(static_cast<float>(value));
    return splat_constant(element_, float_constant(value), width_);
  }
  V ci(int64_t value) const { return splat_constant(element_, std::to_string(value), width_); }

  V op(std::string_view mnemonic, const V& a, const V& b) const {
    return let(std::string(mnemonic) + " " + type_ + " " + a + ", " + b);
  }
  V fadd(const V& a, const V& b) const { return op("fadd", a, b); }
  V fsub(const V& a, const V& b) const { return op("fsub", a, b); }
  V fmul(const V& a, const V& b) const { return op("fmul", a, b); }
  V fdiv(const V& a, const V& b) const { return op("fdiv", a, b); }
  V fneg(const V& a) const { return let("fneg " + type_ + " " + a); }
  V fma(const V& a, const V& b, const V& c) const { return intrinsic("fma", {a, b, c}); }
  V add(const V& a, const V& b) const { return op("add", a, b); }
  V sub(const V& a, const V& b) const { return op("sub", a, b); }
  V mul(const V& a, const V& b) const { return op("mul", a, b); }
  V and_(const V& a, const V& b) const { return op("and", a, b); }
  V or_(const V& a, const V& b) const { return op("or", a, b); }
  V xor_(const V& a, const V& b) const { return op("xor", a, b); }
  V shl(const V& a, int amount) const { return op("shl", a, ci(amount)); }
  V lshr(const V& a, int amount) const { return op("lshr", a, ci(amount)); }
  V ashr(const V& a, int amount) const { return op("ashr", a, ci(amount)); }

  // icmp and fcmp: lanes of i1.
  V icmp(std::string_view predicate, const V& a, const V& b) const {
    return op("icmp " + std::string(predicate), a, b);
  }
  V fcmp(std::string_view predicate, const V& a, const V& b) const {
    return op("fcmp " + std::string(predicate), a, b);
  }
  V select(const V& condition, const V& a, const V& b) const {
    return let("select " + vector_type("i1", width_) + " " + condition + ", " + type_ + " " + a +
               ", " + type_ + " " + b);
  }
  // Conversion instruction to another element type.
  V convert(std::string_view mnemonic, const V& a, std::string_view to) const {
    return let(std::string(mnemonic) + " " + type_ + " " + a + " to " + vector_type(to, width_));
  }
  V bitcast(const V& a, std::string_view to) const { return convert("bitcast", a, to); }
  // @llvm.<name>.<suffix>, all operands and the result of this type.
  V intrinsic(std::string_view name, const std::vector<V>& operands) const;
  // Calls the C function `name` (double or float arguments) for each lane.
  V library_call(const std::string& name, const std::vector<V>& operands) const;

 private:
  V let(const std::string& rhs) const { return e_.text.let(rhs); }

  Emitter& e_;
  std::string element_;
  int width_;
  std::string type_;
};

// ---- conversions between the narrow formats and float (convert.cpp) ----
// The register image of a float dtype as float (f64: as double), and back with rounding.
Calc::V to_compute(const Calc& any, const Calc::V& value, Dtype dtype);
Calc::V from_compute(const Calc& any, const Calc::V& value, Dtype dtype, bool toward_zero = false);
// "float", or "double" for f64.
std::string compute_type(Dtype dtype);
// Rounds float lanes to TF32: nearest, ties away.
Calc::V round_tf32(const Calc& floats, const Calc::V& value);
Calc::V cast_lanes(const Calc& any, const Calc::V& value, const ir::Type& from, const ir::Type& to,
                   bool toward_zero);

// ---- functions (math.cpp): float or double lanes ----
Calc::V math_function(const Calc& calc, ir::Op op, const Calc::V& x);

// ---- minimum and maximum of float images or integers (elementwise.cpp) ----
Calc::V min_max(Emitter& e, bool want_max, bool propagate_nan, Dtype dtype, int width,
                const Calc::V& a, const Calc::V& b);
// a op b for add of any dtype: also used by atomics.
Calc::V add_lanes(Emitter& e, Dtype dtype, int width, const Calc::V& a, const Calc::V& b);

}  // namespace tilewright::cpu
