// Every element-wise op in every dtype: emitted text, emulated, against the interpreter.
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

constexpr Dtype kAll[] = {Dtype::kI1,     Dtype::kI8,  Dtype::kI16,  Dtype::kI32, Dtype::kI64,
                          Dtype::kU8,     Dtype::kU16, Dtype::kU32,  Dtype::kU64, Dtype::kF8E4M3,
                          Dtype::kF8E5M2, Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64};
constexpr int kSize = 256;

// A kernel over vectors of kSize elements: loads its inputs, runs ops, stores result j of dtype d
// behind the others of that dtype.
class Vectors {
 public:
  explicit Vectors(int warps) : warps_(warps) {}

  std::string load(Dtype dtype, Argument argument) {
    std::string p = "in" + std::to_string(arguments_.size());
    params_ += (params_.empty() ? "%" : ", %") + p + ": ptr<" + name(dtype) + ">";
    arguments_.push_back(std::move(argument));
    std::string v = "%" + p + "_v";
    body_ += "  %" + p + "_p: " + tile("ptr<" + name(dtype) + ">") + " = splat %" + p + "\n";
    body_ +=
        "  %" + p + "_q: " + tile("ptr<" + name(dtype) + ">") + " = ptr_add %" + p + "_p, %index\n";
    body_ += "  " + v + ": " + tile(name(dtype)) + " = load %" + p + "_q\n";
    return v;
  }
  void op(Dtype result, const std::string& text) { ops_.push_back({result, text}); }

  Comparison finish(Tolerance tolerance = {}) {
    std::map<Dtype, size_t> counts;
    std::string stores;
    int n = 0;
    for (auto& [dtype, text] : ops_) {
      std::string id = std::to_string(n++), out = "out_" + name(dtype);
      body_ += "  %r" + id + ": " + tile(name(dtype)) + " = " + text + "\n";
      stores +=
          "  %c" + id + ": i32 = const {value=" + std::to_string(counts[dtype]++ * kSize) + "}\n";
      stores += "  %b" + id + ": ptr<" + name(dtype) + "> = ptr_add %" + out + ", %c" + id + "\n";
      stores += "  %s" + id + ": " + tile("ptr<" + name(dtype) + ">") + " = splat %b" + id + "\n";
      stores += "  %p" + id + ": " + tile("ptr<" + name(dtype) + ">") + " = ptr_add %s" + id +
                ", %index\n";
      stores += "  store %p" + id + ", %r" + id + "\n";
    }
    for (auto& [dtype, count] : counts) {
      params_ += ", %out_" + name(dtype) + ": ptr<" + name(dtype) + ">";
      outputs_[arguments_.size()] = dtype;
      arguments_.push_back(zeros(dtype, count * kSize));
    }
    Comparison c;
    c.ir = "kernel @k(" + params_ + ") attributes {num_warps=" + std::to_string(warps_) +
           "} {\n  %index: " + tile("i32") + " = arange {end=" + std::to_string(kSize) +
           ", start=0}\n" + body_ + stores + "  return\n}\n";
    c.arguments = arguments_;
    c.tolerance = tolerance;
    return c;
  }
  std::string describe(size_t argument, size_t element) const {
    size_t n = 0;
    for (auto& [dtype, text] : ops_)
      if (outputs_.at(argument) == dtype && n++ == element / kSize) return text;
    return "?";
  }

  static std::string name(Dtype dtype) { return std::string(dtype_name(dtype)); }
  static std::string tile(const std::string& element) {
    return "tile<" + std::to_string(kSize) + "x" + element + ">";
  }

 private:
  int warps_;
  std::string params_, body_;
  std::vector<Argument> arguments_;
  std::vector<std::pair<Dtype, std::string>> ops_;
  std::map<size_t, Dtype> outputs_;
};

// Interesting numbers of a dtype first, random ones after.
Argument numbers(Dtype dtype, unsigned seed, double scale = 4) {
  std::mt19937 random(seed);
  if (is_int(dtype)) {
    Argument argument = random_bits(dtype, kSize, seed);
    for (size_t i = 0; i < kSize; i += 2)
      argument.set(i, int_to_bits(static_cast<int64_t>(random() % 9) - 4, dtype));
    argument.set(1, int_to_bits(int64_t{1} << (dtype_bits(dtype) - 1), dtype));
    argument.set(seed % 7, int_to_bits(-1, dtype));
    return argument;
  }
  constexpr double kSpecial[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY,
                                 NAN, 0.5,  2.0, 3.0,  -2.5};
  Argument argument = buffer(dtype, kSize, [&](size_t i) {
    if (i % 5 == 0) return kSpecial[random() % std::size(kSpecial)];
    return (static_cast<double>(random()) / 4294967296.0 * 2 - 1) * scale;
  });
  return argument;
}

// One with and one without conversions to bf16 and fp8 in hardware.
std::string some_target(Dtype dtype) {
  return static_cast<int>(dtype) % 2 == 0 ? "sm_89" : "sm_75";
}

class EmitElementwise : public ::testing::TestWithParam<Dtype> {};

TEST_P(EmitElementwise, ArithmeticIsExact) {
  Dtype t = GetParam();
  if (is_fp8(t)) GTEST_SKIP() << "fp8 is for memory and dots";
  Vectors v(static_cast<int>(t) % 2 == 0 ? 4 : 1);
  std::string a = v.load(t, numbers(t, 1)), b = v.load(t, numbers(t, 2)),
              c = v.load(t, numbers(t, 3));
  std::string ab = a + ", " + b;
  std::vector<std::string> binary = {"add", "sub", "mul", "min", "max"}, unary = {"neg", "abs"};
  if (is_int(t)) {
    binary.insert(binary.end(), {"and", "or", "xor", "shl", "shr", "div", "rem"});
    if (dtype_bits(t) >= 32) binary.push_back("mulhi");
    unary.push_back("not");
  } else {
    if (t == Dtype::kF32 || t == Dtype::kF64) {
      binary.insert(binary.end(), {"rem", "div_rn"});
      unary.push_back("sqrt_rn");
    }
    unary.insert(unary.end(), {"floor", "ceil"});
    v.op(t, "fma " + ab + ", " + c);
    v.op(t, "min " + ab + " {nan=propagate}");
    v.op(t, "max " + ab + " {nan=propagate}");
  }
  for (auto& op : binary) v.op(t, op + " " + ab);
  for (auto& op : unary) v.op(t, op + " " + a);
  for (const char* predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    v.op(Dtype::kI1, "cmp " + ab + " {pred=" + predicate + "}");
  Comparison kernel = v.finish();
  kernel.check([&](size_t i, size_t j) { return v.describe(i, j); });
  kernel.compiles({some_target(t)});
}

TEST_P(EmitElementwise, FunctionsWithinTheContract) {
  Dtype t = GetParam();
  if (t != Dtype::kF32 && t != Dtype::kF64) GTEST_SKIP() << "functions are of f32 and f64";
  Vectors v(2);
  std::string a = v.load(t, numbers(t, 4)), b = v.load(t, numbers(t, 5));
  for (const char* op :
       {"exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "rsqrt", "sqrt"})
    v.op(t, std::string(op) + " " + a);
  v.op(t, "div " + a + ", " + b);
  double ulp = t == Dtype::kF64 ? 0x1p-52 : 0x1p-23, ulps = t == Dtype::kF64 ? 2 : 6;
  Comparison kernel =
      v.finish({.absolute = t == Dtype::kF32 ? 0x1p-20 : 0x1p-50, .relative = ulps * ulp});
  kernel.check([&](size_t i, size_t j) { return v.describe(i, j); });
  kernel.compiles({some_target(t)});
}

TEST_P(EmitElementwise, CastsAndSelect) {
  Dtype t = GetParam();
  Vectors v(4);
  std::string a = v.load(t, numbers(t, 6, 3e5)), b = v.load(t, numbers(t, 7)),
              m = v.load(Dtype::kI1, random_bits(Dtype::kI1, kSize, 8));
  v.op(t, "select " + m + ", " + a + ", " + b);
  for (Dtype to : kAll) {
    v.op(to, "cast " + a);
    v.op(to, "cast " + b);
    if (is_float(t) && is_float(to) && dtype_bits(to) < dtype_bits(t)) {
      v.op(to, "cast " + a + " {rounding=rtz}");
      v.op(to, "cast " + b + " {rounding=rtz}");
    }
    if (to != t && dtype_bits(to) == dtype_bits(t) && t != Dtype::kI1) v.op(to, "bitcast " + a);
  }
  Comparison kernel = v.finish();
  kernel.check([&](size_t i, size_t j) { return v.describe(i, j); });
  kernel.compiles({some_target(t)});
}

INSTANTIATE_TEST_SUITE_P(AllDtypes, EmitElementwise, ::testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace tilewright::cuda
