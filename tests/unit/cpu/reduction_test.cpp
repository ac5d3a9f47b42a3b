// Reductions of all kinds and axes, and dot in all types.
#include "tests/unit/cpu/tiles.h"

namespace tilewright::cpu {
namespace {

std::vector<int> without(std::vector<int> shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

void reduce(const std::vector<int>& shape, int axis, Dtype dtype, const std::string& op) {
  std::string e = name(dtype), d = dims(shape);
  std::vector<int> result = without(shape, axis);
  std::string type = result.empty() ? e : "tile<" + dims(result) + e + ">";
  std::string text = "kernel @k(%x: ptr<" + e + ">, %out: ptr<" + e + ">) {\n" +
                     address("p", "x", shape, e) + "  %v: tile<" + d + e +
                     "> = load %p\n  %y: " + type + " = reduce %v {axis=" + std::to_string(axis) +
                     "} region(%a: " + e + ", %b: " + e + ") {\n    %c: " + e + " = " + op +
                     " %a, %b\n    yield %c\n  }\n";
  if (result.empty())
    text += "  store %out, %y\n";
  else
    text += address("q", "out", result, e) + "  store %q, %y\n";
  Arguments arguments{{small(dtype, static_cast<size_t>(count_of(shape)), 5),
                       Array::zeros(dtype, static_cast<size_t>(count_of(result)))},
                      {},
                      {1, 1, 1},
                      {},
                      {}};
  compare(text + "  return\n}\n", arguments,
          op + " of " + d + e + " along " + std::to_string(axis));
}

TEST(Reduce, EveryAxis) {
  for (const auto& shape : std::vector<std::vector<int>>{{1},
                                                         {2},
                                                         {16},
                                                         {512},
                                                         {8, 64},
                                                         {64, 8},
                                                         {2, 2},
                                                         {1, 32},
                                                         {32, 1},
                                                         {4, 8, 16},
                                                         {16, 2, 4},
                                                         {2, 2, 2, 2}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      reduce(shape, axis, Dtype::kI32, "add");
}

TEST(Reduce, EveryTypeAndOp) {
  for (Dtype dtype : {Dtype::kI8, Dtype::kI16, Dtype::kI64, Dtype::kU8, Dtype::kU32, Dtype::kF16,
                      Dtype::kBF16, Dtype::kF32, Dtype::kF64})
    for (const char* op : {"add", "min", "max"}) {
      reduce({4, 64}, 1, dtype, op);
      reduce({16, 32}, 0, dtype, op);
    }
  for (const char* op : {"and", "or", "xor"}) {
    reduce({64}, 0, Dtype::kI32, op);
    reduce({64}, 0, Dtype::kI1, op);
  }
}

TEST(Reduce, NanAndSignedZeros) {
  const double nan = NAN;
  for (const char* op : {"max", "min", "max {nan=propagate}", "min {nan=propagate}"}) {
    std::string spelled = op, attrs;
    if (auto brace = spelled.find(" {"); brace != spelled.npos) {
      attrs = spelled.substr(brace);
      spelled.resize(brace);
    }
    std::string text = "kernel @k(%x: ptr<f32>, %out: ptr<f32>) {\n" +
                       address("p", "x", {4, 16}, "f32") +
                       "  %v: tile<4x16xf32> = load %p\n  %y: tile<4xf32> = reduce %v {axis=1} "
                       "region(%a: f32, %b: f32) {\n    %c: f32 = " +
                       spelled + " %a, %b" + attrs + "\n    yield %c\n  }\n" +
                       address("q", "out", {4}, "f32") + "  store %q, %y\n  return\n}\n";
    std::vector<double> values(64, nan);
    for (size_t i = 16; i < 32; ++i) values[i] = i % 3 ? 0.0 : -0.0;
    for (size_t i = 32; i < 48; ++i) values[i] = i == 40 ? nan : static_cast<double>(i) - 40;
    for (size_t i = 48; i < 64; ++i) values[i] = i == 50 ? INFINITY : -INFINITY;
    compare(text,
            {{Array::of(Dtype::kF32, values), Array::zeros(Dtype::kF32, 4)}, {}, {1, 1, 1}, {}, {}},
            op);
  }
}

// argmax: two operands, ties to the smaller index.
std::string argmax(const std::vector<int>& shape, int axis, bool with_branch) {
  std::vector<int> result = without(shape, axis);
  std::string d = dims(shape), of = result.empty() ? "" : "tile<" + dims(result);
  auto type = [&](const std::string& e) { return result.empty() ? e : of + e + ">"; };
  std::string region = with_branch ? R"(
    %less: i1 = cmp %b, %a {pred=gt}
    %equal: i1 = cmp %b, %a {pred=eq}
    %first: i1 = cmp %j, %i {pred=lt}
    %tie: i1 = and %equal, %first
    %take: i1 = or %less, %tie
    %v2: f32, %i2: i32 = if %take region() {
      yield %b, %j
    } region() {
      yield %a, %i
    }
    yield %v2, %i2
)"
                                   : R"(
    %less: i1 = cmp %b, %a {pred=gt}
    %equal: i1 = cmp %b, %a {pred=eq}
    %first: i1 = cmp %j, %i {pred=lt}
    %tie: i1 = and %equal, %first
    %take: i1 = or %less, %tie
    %v2: f32 = select %take, %b, %a
    %i2: i32 = select %take, %j, %i
    yield %v2, %i2
)";
  std::string text = "kernel @k(%x: ptr<f32>, %o: ptr<f32>, %oi: ptr<i32>) {\n" +
                     address("p", "x", shape, "f32") + "  %v: tile<" + d +
                     "f32> = load %p\n  %y: " + type("f32") + ", %z: " + type("i32") +
                     " = reduce %v, %p_s {axis=" + std::to_string(axis) +
                     "} region(%a: f32, %i: i32, %b: f32, %j: i32) {" + region + "  }\n";
  if (result.empty()) return text + "  store %o, %y\n  store %oi, %z\n  return\n}\n";
  return text + address("q", "o", result, "f32") + address("s", "oi", result, "i32") +
         "  store %q, %y\n  store %s, %z\n  return\n}\n";
}

TEST(Reduce, ArgmaxWithTies) {
  for (const auto& shape : std::vector<std::vector<int>>{{64}, {8, 32}, {32, 4}, {2, 8, 4}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (bool with_branch : {false, true}) {
        auto n = static_cast<size_t>(count_of(shape));
        auto m = static_cast<size_t>(count_of(without(shape, axis)));
        compare(
            argmax(shape, axis, with_branch),
            {{small(Dtype::kF32, n, 9), Array::zeros(Dtype::kF32, m), Array::zeros(Dtype::kI32, m)},
             {},
             {1, 1, 1},
             {},
             {}},
            dims(shape) + std::to_string(axis));
      }
}

// ---- dot ----

struct DotCase {
  Dtype a, b, acc;
  std::vector<int> shape;  // [batch,] m, n, k
  std::string attrs;
};

// acc is loaded; out = acc + a @ b. Masks with NaN outside would show reads that should not happen.
std::string dot_kernel(const DotCase& c) {
  std::vector<int> batch(c.shape.begin(), c.shape.end() - 3);
  int m = c.shape[batch.size()], n = c.shape[batch.size() + 1], k = c.shape[batch.size() + 2];
  auto with = [&](int rows, int cols) {
    std::vector<int> s = batch;
    s.push_back(rows);
    s.push_back(cols);
    return s;
  };
  std::string a = name(c.a), b = name(c.b), acc = name(c.acc);
  return "kernel @k(%a: ptr<" + a + ">, %b: ptr<" + b + ">, %c: ptr<" + acc + ">) {\n" +
         address("pa", "a", with(m, k), a) + address("pb", "b", with(k, n), b) +
         address("pc", "c", with(m, n), acc) + "  %x: tile<" + dims(with(m, k)) + a +
         "> = load %pa\n  %y: tile<" + dims(with(k, n)) + b + "> = load %pb\n  %z: tile<" +
         dims(with(m, n)) + acc + "> = load %pc\n  %w: tile<" + dims(with(m, n)) + acc +
         "> = dot %x, %y, %z " + c.attrs + "\n  store %pc, %w\n  return\n}\n";
}

void check_dot(const DotCase& c) {
  size_t batch = c.shape.size() == 4 ? static_cast<size_t>(c.shape[0]) : 1;
  size_t s = c.shape.size() - 3;
  auto m = static_cast<size_t>(c.shape[s]), n = static_cast<size_t>(c.shape[s + 1]),
       k = static_cast<size_t>(c.shape[s + 2]);
  int limit = is_fp8(c.a) || c.acc == Dtype::kF16 ? 2 : 8;
  compare(dot_kernel(c),
          {{small(c.a, batch * m * k, 1, limit), small(c.b, batch * k * n, 2, limit),
            small(c.acc, batch * m * n, 3, limit)},
           {},
           {1, 1, 1},
           {},
           {}},
          "dot " + dims(c.shape) + name(c.a) + " " + name(c.acc));
}

TEST(Dot, EveryShape) {
  for (const auto& shape : std::vector<std::vector<int>>{{1, 1, 1},
                                                         {2, 2, 2},
                                                         {1, 16, 8},
                                                         {16, 1, 8},
                                                         {4, 4, 1},
                                                         {16, 16, 16},
                                                         {32, 64, 16},
                                                         {64, 32, 128},
                                                         {8, 128, 4},
                                                         {128, 8, 64},
                                                         {4, 16, 16, 8},
                                                         {2, 8, 4, 32}})
    check_dot({Dtype::kF32, Dtype::kF32, Dtype::kF32, shape, "{precision=ieee}"});
}

TEST(Dot, EveryType) {
  const DotCase cases[] = {{Dtype::kF16, Dtype::kF16, Dtype::kF32, {}, ""},
                           {Dtype::kF16, Dtype::kF16, Dtype::kF16, {}, ""},
                           {Dtype::kBF16, Dtype::kBF16, Dtype::kF32, {}, ""},
                           {Dtype::kF8E4M3, Dtype::kF8E4M3, Dtype::kF32, {}, ""},
                           {Dtype::kF8E5M2, Dtype::kF8E4M3, Dtype::kF32, {}, ""},
                           {Dtype::kI8, Dtype::kI8, Dtype::kI32, {}, ""},
                           {Dtype::kU8, Dtype::kI8, Dtype::kI32, {}, ""},
                           {Dtype::kI8, Dtype::kI8, Dtype::kI32, {}, "{nibbles=1}"},
                           {Dtype::kI8, Dtype::kU8, Dtype::kI32, {}, "{nibbles=1}"},
                           {Dtype::kF64, Dtype::kF64, Dtype::kF64, {}, ""},
                           {Dtype::kF32, Dtype::kF32, Dtype::kF32, {}, "{precision=tf32}"},
                           {Dtype::kF32, Dtype::kF32, Dtype::kF32, {}, "{precision=tf32x3}"}};
  for (DotCase c : cases)
    for (const auto& shape :
         std::vector<std::vector<int>>{{16, 16, 16}, {32, 64, 32}, {1, 2, 4}, {2, 16, 16, 16}}) {
      c.shape = shape;
      check_dot(c);
    }
}

// Each input is rounded to TF32 with ties away from zero.
TEST(Dot, Tf32RoundsItsInputs) {
  DotCase c{Dtype::kF32, Dtype::kF32, Dtype::kF32, {16, 16, 16}, ""};
  Random random(11);
  std::vector<double> a, b(256, 0.0);
  for (int i = 0; i < 256; ++i) a.push_back(random.uniform(-1, 1));
  a[0] = 1 + 0x1p-11;  // a tie
  a[1] = -(1 + 0x1p-11);
  a[2] = 3.4028234e38;                            // rounds beyond the largest float
  for (size_t i = 0; i < 16; ++i) b[i * 17] = 1;  // the identity: results are the rounded inputs
  compare(dot_kernel(c),
          {{Array::of(Dtype::kF32, a), Array::of(Dtype::kF32, b), Array::zeros(Dtype::kF32, 256)},
           {},
           {1, 1, 1},
           {},
           {}});
}

// The accumulator in a loop, scaled in every step as online softmax does.
TEST(Dot, AccumulatesInALoop) {
  std::string text = R"(
kernel @k(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %n: i32) {
)" + address("pa", "a", {16, 32}, "f32") +
                     address("pb", "b", {32, 64}, "f32") + address("pc", "c", {16, 64}, "f32") + R"(
  %zero: i32 = const {value=0}
  %one: i32 = const {value=1}
  %half: tile<16x64xf32> = const {value=0.5}
  %init: tile<16x64xf32> = const {value=0.0}
  %step: tile<32x64xi32> = const {value=2048}
  %acc: tile<16x64xf32>, %last: tile<32x64xptr<f32>> = for %zero, %n, %one, %init, %pb
      region(%i: i32, %s: tile<16x64xf32>, %p: tile<32x64xptr<f32>>) {
    %x: tile<16x32xf32> = load %pa
    %y: tile<32x64xf32> = load %p
    %h: tile<16x64xf32> = mul %s, %half
    %t: tile<16x64xf32> = dot %x, %y, %h {precision=ieee}
    %next: tile<32x64xptr<f32>> = ptr_add %p, %step
    yield %t, %next
  }
  store %pc, %acc
  return
}
)";
  for (uint64_t n : {0, 1, 3}) {
    Arguments arguments{{small(Dtype::kF32, 512, 1), small(Dtype::kF32, 2048 * 3, 2),
                         Array::zeros(Dtype::kF32, 1024)},
                        {n},
                        {1, 1, 1},
                        {},
                        {}};
    compare(text, arguments, "n=" + std::to_string(n));
  }
}

// Operands that are contiguous in memory along their other dimension.
TEST(Dot, OperandsStoredTransposed) {
  auto transposed = [](const std::string& to, const std::string& base, int rows, int cols,
                       const std::string& element) {
    std::string r = std::to_string(rows), c = std::to_string(cols), d = r + "x" + c + "x";
    return "  %" + to + "i: tile<" + r + "xi32> = arange {start=0, end=" + r + "}\n  %" + to +
           "j: tile<" + c + "xi32> = arange {start=0, end=" + c + "}\n  %" + to + "ie: tile<" + r +
           "x1xi32> = expand_dims %" + to + "i {axis=1}\n  %" + to + "je: tile<1x" + c +
           "xi32> = expand_dims %" + to + "j {axis=0}\n  %" + to + "st: tile<1x" + c +
           "xi32> = const {value=" + r + "}\n  %" + to + "js: tile<1x" + c + "xi32> = mul %" + to +
           "je, %" + to + "st\n  %" + to + "ib: tile<" + d + "i32> = broadcast %" + to + "ie\n  %" +
           to + "jb: tile<" + d + "i32> = broadcast %" + to + "js\n  %" + to + "at: tile<" + d +
           "i32> = add %" + to + "ib, %" + to + "jb\n  %" + to + "b: tile<" + d + "ptr<" + element +
           ">> = splat %" + base + "\n  %" + to + ": tile<" + d + "ptr<" + element +
           ">> = ptr_add %" + to + "b, %" + to + "at\n  %" + to + "lim: tile<" + r +
           "x1xi32> = const {value=" + std::to_string(rows - 3) + "}\n  %" + to + "m: tile<" + r +
           "x1xi1> = cmp %" + to + "ie, %" + to + "lim {pred=lt}\n  %" + to + "mask: tile<" + d +
           "i1> = broadcast %" + to + "m\n";
  };
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kI8}) {
    std::string e = name(dtype), acc = dtype == Dtype::kI8 ? "i32" : "f32";
    Dtype acc_dtype = dtype == Dtype::kI8 ? Dtype::kI32 : Dtype::kF32;
    std::string text = "kernel @k(%a: ptr<" + e + ">, %b: ptr<" + e + ">, %c: ptr<" + acc +
                       ">) {\n" + transposed("pa", "a", 16, 32, e) +
                       transposed("pb", "b", 32, 64, e) + transposed("pc", "c", 16, 64, acc) +
                       "  %x: tile<16x32x" + e + "> = load %pa, %pamask\n  %y: tile<32x64x" + e +
                       "> = load %pb, %pbmask\n  %z: tile<16x64x" + acc +
                       "> = load %pc, %pcmask\n  %w: tile<16x64x" + acc +
                       "> = dot %x, %y, %z\n  store %pc, %w, %pcmask\n  return\n}\n";
    compare(text,
            {{small(dtype, 512, 1), small(dtype, 2048, 2), small(acc_dtype, 1024, 3)},
             {},
             {1, 1, 1},
             {},
             {}},
            e);
  }
}

// A transposed operand, and a product of a product.
TEST(Dot, ChainsAndTransposes) {
  std::string text = "kernel @k(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>) {\n" +
                     address("pa", "a", {16, 32}, "f32") + address("pb", "b", {16, 32}, "f32") +
                     address("pc", "c", {16, 32}, "f32") + R"(
  %x: tile<16x32xf32> = load %pa
  %y: tile<16x32xf32> = load %pb
  %yt: tile<32x16xf32> = permute %y {order=[1, 0]}
  %z: tile<16x16xf32> = const {value=0.0}
  %s: tile<16x16xf32> = dot %x, %yt, %z {precision=ieee}
  %w: tile<16x32xf32> = const {value=1.0}
  %t: tile<16x32xf32> = dot %s, %y, %w {precision=ieee}
  store %pc, %t
  return
}
)";
  compare(text,
          {{small(Dtype::kF32, 512, 1), small(Dtype::kF32, 512, 2), Array::zeros(Dtype::kF32, 512)},
           {},
           {1, 1, 1},
           {},
           {}});
}

}  // namespace
}  // namespace tilewright::cpu
