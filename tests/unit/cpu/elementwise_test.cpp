// Every element-wise op in every type that makes sense, at its edges, as scalars and as tiles,
// against the interpreter.
#include <map>
#include <set>

#include "codegen/ir/op_info.h"
#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

constexpr Dtype kInts[] = {Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64,
                           Dtype::kU8, Dtype::kU16, Dtype::kU32, Dtype::kU64};
constexpr Dtype kFloats[] = {Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF16,
                             Dtype::kBF16,   Dtype::kF32,    Dtype::kF64};
constexpr Dtype kArithmeticFloats[] = {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64};
constexpr Dtype kAll[] = {Dtype::kI1,     Dtype::kI8,  Dtype::kI16,  Dtype::kI32, Dtype::kI64,
                          Dtype::kU8,     Dtype::kU16, Dtype::kU32,  Dtype::kU64, Dtype::kF8E4M3,
                          Dtype::kF8E5M2, Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64};

// Values where ops have edges: limits, zeros of both signs, infinities, NaN, subnormals, ties.
std::vector<uint64_t> edge_values(Dtype dtype) {
  std::vector<uint64_t> out;
  int bits = dtype_bits(dtype);
  if (is_int(dtype)) {
    if (dtype == Dtype::kI1) return {0, 1};
    uint64_t top = uint64_t{1} << (bits - 1);
    for (uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7},
                       static_cast<uint64_t>(bits - 1), static_cast<uint64_t>(bits), uint64_t{100},
                       top - 1, top, top + 1, uint64_t{0} - 1, uint64_t{0} - 2, uint64_t{0} - 7})
      out.push_back(int_to_bits(static_cast<int64_t>(v), dtype));
    return out;
  }
  const double kValues[] = {
      0.0,    -0.0,     1.0,       -1.0,         0.5,          1.5,           2.5,          -2.5,
      3.0,    7.0,      100.0,     448.0,        460.0,        57344.0,       65504.0,      65520.0,
      1e-3,   1e-7,     6e-8,      1e-40,        1e30,         -1e30,         3.4e38,       127.5,
      128.0,  255.5,    32767.9,   2147483647.0, 2147483648.0, -2147483649.0, 4294967296.0, 1e19,
      9.3e18, INFINITY, -INFINITY, NAN};
  for (double v : kValues) out.push_back(float_to_bits(v, dtype));
  out.push_back(1);                                // the smallest subnormal
  out.push_back((uint64_t{1} << (bits - 1)) | 1);  // and its negative
  return out;
}

uint64_t random_value(Random& random, Dtype dtype) {
  uint64_t bits = random.next();
  if (is_float(dtype) && random.next() % 2 == 0) return float_to_bits(random.uniform(-8, 8), dtype);
  if (dtype == Dtype::kI1) return bits & 1;
  if (is_int(dtype) && random.next() % 2 == 0) return int_to_bits(random.between(-20, 20), dtype);
  return dtype_bits(dtype) == 64 ? bits : bits & ((uint64_t{1} << dtype_bits(dtype)) - 1);
}

std::string name(Dtype dtype) {
  return std::string(dtype_name(dtype));
}

// `arity` operand arrays that hold all combinations of edge values (sampled) and random ones.
std::vector<Array> operands_of(const std::vector<Dtype>& dtypes, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Array> out;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    std::vector<uint64_t> edges = edge_values(dtypes[k]), bits;
    size_t stride = 1;
    for (size_t j = 0; j < k; ++j) stride *= edge_values(dtypes[j]).size();
    for (size_t i = 0; i < count; ++i) {
      bool edge = i < count * 3 / 4;
      bits.push_back(edge ? edges[i / stride % edges.size()] : random_value(random, dtypes[k]));
    }
    out.emplace_back(dtypes[k], bits);
  }
  return out;
}

// Collects ops and runs them in two kernels, one on tiles of 64 elements and one on scalars.
class Batch {
 public:
  explicit Batch(std::string name) : name_(std::move(name)) {}
  ~Batch() {
    compare(kernel(true), arguments(kPrograms), name_ + " on tiles");
    compare(kernel(false), arguments(kPrograms * 64), name_ + " on scalars");
  }
  void add(const std::string& mnemonic, const std::vector<Dtype>& in, Dtype out,
           const std::string& attrs = "", double tolerance = 0) {
    cases_.push_back({mnemonic, in, out, attrs, tolerance});
  }

 private:
  struct Case {
    std::string mnemonic;
    std::vector<Dtype> in;
    Dtype out;
    std::string attrs;
    double tolerance;
  };
  static constexpr uint32_t kPrograms = 24;

  Arguments arguments(uint32_t programs) const {
    Arguments all{{}, {}, {programs, 1, 1}, {}, {}};
    for (const Case& c : cases_) {
      for (Array& array : operands_of(c.in, kPrograms * 64, 7)) all.arrays.push_back(array);
      all.arrays.push_back(Array::zeros(c.out, kPrograms * 64));
      all.labels.resize(all.arrays.size(), c.mnemonic + " " + c.attrs + " of " + name(c.in[0]));
      all.tolerances.resize(all.arrays.size(), c.tolerance);
    }
    return all;
  }

  // out[i] = op(in0[i], …) at the elements of this program.
  std::string kernel(bool tiles) const {
    std::string params, body;
    if (tiles)
      body =
          "  %pid: i32 = program_id {axis=0}\n  %size: i32 = const {value=64}\n"
          "  %start: i32 = mul %pid, %size\n  %st: tile<64xi32> = splat %start\n"
          "  %r: tile<64xi32> = arange {start=0, end=64}\n  %at: tile<64xi32> = add %st, %r\n";
    else
      body = "  %at: i32 = program_id {axis=0}\n";
    int next = 0;
    // The address of this program's elements of a new parameter.
    auto address = [&](Dtype dtype) {
      std::string i = std::to_string(next++), d = name(dtype), base = "%p" + i;
      params += (params.empty() ? "" : ", ") + base + ": ptr<" + d + ">";
      if (tiles) body += "  %b" + i + ": tile<64xptr<" + d + ">> = splat %p" + i + "\n";
      body += "  %a" + i + ": " + type(tiles, "ptr<" + d + ">") + " = ptr_add %" +
              (tiles ? "b" : "p") + i + ", %at\n";
      return i;
    };
    for (const Case& c : cases_) {
      std::string operands;
      for (Dtype dtype : c.in) {
        std::string i = address(dtype);
        body += "  %x" + i + ": " + type(tiles, name(dtype)) + " = load %a" + i + "\n";
        operands += (operands.empty() ? " %x" : ", %x") + i;
      }
      std::string o = address(c.out);
      body += "  %y" + o + ": " + type(tiles, name(c.out)) + " = " + c.mnemonic + operands + " " +
              c.attrs + "\n  store %a" + o + ", %y" + o + "\n";
    }
    return "kernel @k(" + params + ") {\n" + body + "  return\n}\n";
  }
  static std::string type(bool tiles, const std::string& element) {
    return tiles ? "tile<64x" + element + ">" : element;
  }

  std::string name_;
  std::vector<Case> cases_;
};

TEST(Elementwise, IntegerArithmetic) {
  for (Dtype dtype : kInts) {
    Batch batch(name(dtype));
    for (const char* op :
         {"add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr", "min", "max"})
      batch.add(op, {dtype, dtype}, dtype);
  }
}

TEST(Elementwise, Booleans) {
  Batch batch("Booleans");
  for (const char* op : {"and", "or", "xor", "mul", "add", "sub", "min", "max"})
    batch.add(op, {Dtype::kI1, Dtype::kI1}, Dtype::kI1);
  batch.add("not", {Dtype::kI1}, Dtype::kI1);
}

TEST(Elementwise, IntegerUnary) {
  Batch batch("IntegerUnary");
  for (Dtype dtype : kInts)
    for (const char* op : {"neg", "not", "abs"}) batch.add(op, {dtype}, dtype);
}

TEST(Elementwise, UpperHalfOfProducts) {
  Batch batch("UpperHalfOfProducts");
  for (Dtype dtype : {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64})
    batch.add("mulhi", {dtype, dtype}, dtype);
}

TEST(Elementwise, FloatArithmetic) {
  Batch batch("FloatArithmetic");
  for (Dtype dtype : kArithmeticFloats) {
    for (const char* op : {"add", "sub", "mul", "rem", "min", "max"})
      batch.add(op, {dtype, dtype}, dtype);
    batch.add("min", {dtype, dtype}, dtype, "{nan=propagate}");
    batch.add("max", {dtype, dtype}, dtype, "{nan=propagate}");
  }
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64})
    for (const char* op : {"div", "div_rn"}) batch.add(op, {dtype, dtype}, dtype);
}

TEST(Elementwise, FusedMultiplyAdd) {
  Batch batch("FusedMultiplyAdd");
  for (Dtype dtype : kArithmeticFloats) batch.add("fma", {dtype, dtype, dtype}, dtype);
}

TEST(Elementwise, FloatUnary) {
  Batch batch("FloatUnary");
  for (Dtype dtype : kArithmeticFloats)
    for (const char* op : {"neg", "abs", "floor", "ceil"}) batch.add(op, {dtype}, dtype);
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    batch.add("sqrt", {dtype}, dtype);
    batch.add("sqrt_rn", {dtype}, dtype);
    batch.add("rsqrt", {dtype}, dtype, "", 1);
  }
}

TEST(Elementwise, Comparisons) {
  Batch batch("Comparisons");
  for (Dtype dtype : kAll) {
    if (is_fp8(dtype)) continue;  // storage only
    for (const char* pred : {"eq", "ne", "lt", "le", "gt", "ge"})
      batch.add("cmp", {dtype, dtype}, Dtype::kI1, std::string("{pred=") + pred + "}");
  }
}

TEST(Elementwise, Select) {
  Batch batch("Select");
  for (Dtype dtype : kAll) batch.add("select", {Dtype::kI1, dtype, dtype}, dtype);
}

TEST(Elementwise, CastsFromEveryTypeToEveryType) {
  for (Dtype from : kAll) {
    Batch batch("casts from " + name(from));
    for (Dtype to : kAll) batch.add("cast", {from}, to);
  }
}

TEST(Elementwise, CastsTowardZero) {
  Batch batch("CastsTowardZero");
  for (Dtype from : kFloats)
    for (Dtype to : kFloats)
      if (dtype_bits(to) < dtype_bits(from)) batch.add("cast", {from}, to, "{rounding=rtz}");
}

TEST(Elementwise, Bitcasts) {
  Batch batch("Bitcasts");
  const Dtype groups[][4] = {{Dtype::kI8, Dtype::kU8, Dtype::kF8E4M3, Dtype::kF8E5M2},
                             {Dtype::kI16, Dtype::kU16, Dtype::kF16, Dtype::kBF16},
                             {Dtype::kI32, Dtype::kU32, Dtype::kF32, Dtype::kF32},
                             {Dtype::kI64, Dtype::kU64, Dtype::kF64, Dtype::kF64}};
  for (const auto& group : groups)
    for (Dtype from : group)
      for (Dtype to : group) batch.add("bitcast", {from}, to);
}

// Every element-wise op of the table is named in a test of this room.
TEST(Elementwise, NoOpIsForgotten) {
  const std::set<std::string_view> tested = {
      "add",  "sub",     "mul",   "div",  "div_rn", "rem",  "and",  "or",      "xor",
      "shl",  "shr",     "min",   "max",  "mulhi",  "fma",  "cmp",  "select",  "neg",
      "not",  "abs",     "exp",   "exp2", "log",    "log2", "sin",  "cos",     "tanh",
      "sqrt", "sqrt_rn", "rsqrt", "erf",  "floor",  "ceil", "cast", "bitcast", "ptr_add"};
  for (const ir::OpInfo& info : ir::kOpTable)
    if (info.family == ir::Family::kElementwise) {
      EXPECT_TRUE(tested.count(info.mnemonic)) << info.mnemonic << " has no test here";
    }
}

}  // namespace
}  // namespace tilewright::cpu
