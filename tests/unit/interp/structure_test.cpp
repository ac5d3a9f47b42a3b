// Control flow, shapes, memory, dot and reduce, from IR text.
#include <cstring>

#include "tests/unit/interp/harness.h"

namespace tilewright::interp {
namespace {

ir::Module parse_kernel(const std::string& text) {
  ir::Module module = ir::parse("test.ir", text).value();
  ir::verify(module).value();
  return module;
}

template <class T>
uint64_t address(std::vector<T>& data) {
  return reinterpret_cast<uint64_t>(data.data());
}

// Runs the kernel on one output vector (and further arguments) and returns the vector.
template <class T>
std::vector<T> run_kernel(const std::string& text, size_t count, std::vector<uint64_t> more = {},
                          std::array<uint32_t, 3> grid = {1, 1, 1}) {
  ir::Module module = parse_kernel(text);
  std::vector<T> out(count, T(77));
  more.insert(more.begin(), address(out));
  run(module, {grid, more}).value();
  return out;
}

using Vec = std::vector<int32_t>;

// Wraps ops that define %v of the given tile type in a kernel that stores it at %out.
std::string storing(const std::string& ops, const std::string& shape, int64_t count,
                    const std::string& dtype = "i32") {
  std::string n = std::to_string(count);
  return "kernel @k(%out: ptr<" + dtype + ">) {\n" + ops + "  %flat: tile<" + n + "x" + dtype +
         "> = reshape %v\n"
         "  %at: tile<" +
         n + "xi32> = arange {end=" + n +
         ", start=0}\n"
         "  %base: tile<" +
         n + "xptr<" + dtype +
         ">> = splat %out\n"
         "  %to: tile<" +
         n + "xptr<" + dtype +
         ">> = ptr_add %base, %at\n"
         "  store %to, %flat\n  return\n}\n// " +
         shape + "\n";
}

TEST(Shape, ArangeSplatAndBroadcast) {
  EXPECT_EQ(
      run_kernel<int32_t>(storing("  %v: tile<4xi32> = arange {end=7, start=3}\n", "4", 4), 4),
      (Vec{3, 4, 5, 6}));
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<2xi32> = arange {end=2, start=0}
  %b: tile<1x2xi32> = expand_dims %a {axis=0}
  %v: tile<2x2xi32> = broadcast %b
)",
                                        "2x2", 4),
                                4),
            (Vec{0, 1, 0, 1}));
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<2xi32> = arange {end=2, start=0}
  %b: tile<2x1xi32> = expand_dims %a {axis=1}
  %v: tile<2x2xi32> = broadcast %b
)",
                                        "2x2", 4),
                                4),
            (Vec{0, 0, 1, 1}));
}

TEST(Shape, PermuteMovesDimensions) {
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<8xi32> = arange {end=8, start=0}
  %b: tile<2x4xi32> = reshape %a
  %v: tile<4x2xi32> = permute %b {order=[1, 0]}
)",
                                        "4x2", 8),
                                8),
            (Vec{0, 4, 1, 5, 2, 6, 3, 7}));
  // Dimension i of the result is dimension order[i] of x.
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<8xi32> = arange {end=8, start=0}
  %b: tile<1x2x4xi32> = reshape %a
  %v: tile<4x1x2xi32> = permute %b {order=[2, 0, 1]}
)",
                                        "4x1x2", 8),
                                8),
            (Vec{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(Shape, JoinSplitCat) {
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<2xi32> = arange {end=2, start=0}
  %b: tile<2xi32> = arange {end=7, start=5}
  %v: tile<2x2xi32> = join %a, %b
)",
                                        "2x2", 4),
                                4),
            (Vec{0, 5, 1, 6}));
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<8xi32> = arange {end=8, start=0}
  %b: tile<4x2xi32> = reshape %a
  %lo: tile<4xi32>, %hi: tile<4xi32> = split %b
  %v: tile<8xi32> = cat %hi, %lo {axis=0}
)",
                                        "8", 8),
                                8),
            (Vec{1, 3, 5, 7, 0, 2, 4, 6}));
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %a: tile<4xi32> = arange {end=4, start=0}
  %b: tile<2x2xi32> = reshape %a
  %v: tile<2x4xi32> = cat %b, %b {axis=1}
)",
                                        "2x4", 8),
                                8),
            (Vec{0, 1, 0, 1, 2, 3, 2, 3}));
}

constexpr char kCount[] = R"(
kernel @k(%out: ptr<i32>, %lo: i32, %hi: i32, %step: i32) {
  %zero: i32 = const {value=0}
  %sum: i32 = for %lo, %hi, %step, %zero region(%i: i32, %s: i32) {
    %t: i32 = add %s, %i
    yield %t
  }
  store %out, %sum
  return
}
)";

TEST(Control, ForRunsUpAndDown) {
  auto sum = [](int32_t lo, int32_t hi, int32_t step) {
    return run_kernel<int32_t>(kCount, 1, {uint32_t(lo), uint32_t(hi), uint32_t(step)})[0];
  };
  EXPECT_EQ(sum(0, 5, 1), 10);
  EXPECT_EQ(sum(0, 5, 2), 6);
  EXPECT_EQ(sum(5, 0, 1), 0);
  EXPECT_EQ(sum(-3, 0, 1), -6);
  // No wrap at the end of the type.
  EXPECT_EQ(sum(2147483646, 2147483647, 2), 2147483646);
}

TEST(Control, NegativeStep) {
  EXPECT_EQ(run_kernel<int32_t>(R"(
kernel @k(%out: ptr<i32>) {
  %five: i32 = const {value=5}
  %zero: i32 = const {value=0}
  %step: i32 = const {value=-2}
  %last: i32 = for %five, %zero, %step, %zero region(%i: i32, %s: i32) {
    %ten: i32 = const {value=10}
    %a: i32 = mul %s, %ten
    %b: i32 = add %a, %i
    yield %b
  }
  store %out, %last
  return
}
)",
                                1)[0],
            531);
}

TEST(Control, WhileAndIf) {
  // Collatz steps from 6: 6 3 10 5 16 8 4 2 1.
  EXPECT_EQ(run_kernel<int32_t>(R"(
kernel @k(%out: ptr<i32>, %n: i32) {
  %zero: i32 = const {value=0}
  %one: i32 = const {value=1}
  %two: i32 = const {value=2}
  %three: i32 = const {value=3}
  %x: i32, %steps: i32 = while %n, %zero region(%a: i32, %b: i32) {
    %more: i1 = cmp %a, %one {pred=ne}
    condition %more, %a, %b
  } region(%c: i32, %d: i32) {
    %rest: i32 = rem %c, %two
    %odd: i1 = cmp %rest, %one {pred=eq}
    %next: i32 = if %odd region() {
      %p: i32 = mul %c, %three
      %q: i32 = add %p, %one
      yield %q
    } region() {
      %h: i32 = div %c, %two
      yield %h
    }
    %e: i32 = add %d, %one
    yield %next, %e
  }
  store %out, %steps
  return
}
)",
                                1, {6})[0],
            8);
}

TEST(Control, ProgramIdsAndGrid) {
  Vec out = run_kernel<int32_t>(R"(
kernel @k(%out: ptr<i32>) {
  %x: i32 = program_id {axis=0}
  %y: i32 = program_id {axis=1}
  %z: i32 = program_id {axis=2}
  %nx: i32 = num_programs {axis=0}
  %ny: i32 = num_programs {axis=1}
  %a: i32 = mul %z, %ny
  %b: i32 = add %a, %y
  %c: i32 = mul %b, %nx
  %d: i32 = add %c, %x
  %p: ptr<i32> = ptr_add %out, %d
  store %p, %d
  return
}
)",
                                12, {}, {2, 3, 2});
  for (int32_t i = 0; i < 12; ++i) EXPECT_EQ(out[size_t(i)], i);
}

constexpr char kMasked[] = R"(
kernel @k(%out: ptr<f32>, %in: ptr<f32>, %n: i32) {
  %i: tile<4xi32> = arange {end=4, start=0}
  %limit: tile<4xi32> = splat %n
  %mask: tile<4xi1> = cmp %i, %limit {pred=lt}
  %src: tile<4xptr<f32>> = splat %in
  %p: tile<4xptr<f32>> = ptr_add %src, %i
  %x: tile<4xf32> = load %p, %mask
  %other: tile<4xf32> = const {value=9.0}
  %y: tile<4xf32> = load %p, %mask, %other
  %s: tile<4xf32> = add %x, %y
  %dst: tile<4xptr<f32>> = splat %out
  %q: tile<4xptr<f32>> = ptr_add %dst, %i
  store %q, %s
  return
}
)";

TEST(Memory, MaskedLoadsGiveOtherOrZeroAndTouchNothing) {
  std::vector<float> in = {1, 2};  // two of four elements exist
  std::vector<float> out(4);
  ir::Module module = parse_kernel(kMasked);
  std::vector<uint64_t> args = {address(out), address(in), 2};
  Options options;
  options.may_access = [&](uint64_t at, size_t bytes, bool is_write) {
    auto inside = [&](std::vector<float>& v) {
      return at >= address(v) && at + bytes <= address(v) + v.size() * 4;
    };
    return is_write ? inside(out) : inside(in);
  };
  run(module, {{1, 1, 1}, args}, options).value();
  EXPECT_EQ(out, (std::vector<float>{2, 4, 9, 9}));

  args[2] = 3;
  Status status = run(module, {{1, 1, 1}, args}, options);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kOutOfBounds);
  EXPECT_NE(status.error().message.find("read of 4 bytes"), std::string::npos);
  EXPECT_NE(status.error().message.find("`load` of program (0, 0, 0)"), std::string::npos);
}

TEST(Memory, BooleansAreBytes) {
  std::vector<uint8_t> in = {0, 1, 2, 255};
  EXPECT_EQ(run_kernel<uint8_t>(R"(
kernel @k(%out: ptr<i1>, %in: ptr<i1>) {
  %i: tile<4xi32> = arange {end=4, start=0}
  %src: tile<4xptr<i1>> = splat %in
  %p: tile<4xptr<i1>> = ptr_add %src, %i
  %x: tile<4xi1> = load %p
  %dst: tile<4xptr<i1>> = splat %out
  %q: tile<4xptr<i1>> = ptr_add %dst, %i
  store %q, %x
  return
}
)",
                                4, {address(in)}),
            (std::vector<uint8_t>{0, 1, 1, 1}));
}

// Atomic `what` of `value` on memory holding `before`; gives {old, after}.
std::pair<uint32_t, uint32_t> atomic(const std::string& what, const std::string& dtype,
                                     uint32_t before, uint32_t value, bool mask = true) {
  std::vector<uint32_t> cell = {before}, old = {0xdead};
  std::string text = "kernel @k(%out: ptr<" + dtype + ">, %cell: ptr<" + dtype + ">, %v: " + dtype +
                     ", %m: i1) {\n  %old: " + dtype + " = atomic_rmw %cell, %v, %m {op=" + what +
                     "}\n  store %out, %old\n  return\n}\n";
  std::vector<uint64_t> args = {address(old), address(cell), value, mask};
  run(parse_kernel(text), {{1, 1, 1}, args}).value();
  return {old[0], cell[0]};
}
uint32_t f32(float x) {
  return std::bit_cast<uint32_t>(x);
}

TEST(Memory, Atomics) {
  using P = std::pair<uint32_t, uint32_t>;
  EXPECT_EQ(atomic("add", "i32", 5, 7), (P{5, 12}));
  EXPECT_EQ(atomic("add", "f32", f32(1.5), f32(2)), (P{f32(1.5), f32(3.5)}));
  EXPECT_EQ(atomic("max", "i32", uint32_t(-5), 3), (P{uint32_t(-5), 3}));
  EXPECT_EQ(atomic("max", "u32", uint32_t(-5), 3), (P{uint32_t(-5), uint32_t(-5)}));
  EXPECT_EQ(atomic("min", "i32", uint32_t(-5), 3), (P{uint32_t(-5), uint32_t(-5)}));
  EXPECT_EQ(atomic("and", "u32", 12, 10), (P{12, 8}));
  EXPECT_EQ(atomic("or", "u32", 12, 10), (P{12, 14}));
  EXPECT_EQ(atomic("xor", "u32", 12, 10), (P{12, 6}));
  EXPECT_EQ(atomic("xchg", "f32", f32(1), f32(2)), (P{f32(1), f32(2)}));
  EXPECT_EQ(atomic("max", "f32", f32(-1), f32(-2)), (P{f32(-1), f32(-1)}));
  EXPECT_EQ(atomic("max", "f32", f32(-0.0f), f32(0.0f)), (P{f32(-0.0f), f32(0.0f)}));
  EXPECT_EQ(atomic("min", "f32", f32(-1), f32(2)), (P{f32(-1), f32(-1)}));
  EXPECT_EQ(atomic("add", "i32", 5, 7, false), (P{0, 5}));
}

TEST(Memory, CompareAndSwap) {
  std::vector<int32_t> cells = {0, 1};
  EXPECT_EQ(run_kernel<int32_t>(R"(
kernel @k(%out: ptr<i32>, %cells: ptr<i32>) {
  %i: tile<2xi32> = arange {end=2, start=0}
  %src: tile<2xptr<i32>> = splat %cells
  %p: tile<2xptr<i32>> = ptr_add %src, %i
  %zero: tile<2xi32> = const {value=0}
  %nine: tile<2xi32> = const {value=9}
  %old: tile<2xi32> = atomic_cas %p, %zero, %nine
  %dst: tile<2xptr<i32>> = splat %out
  %q: tile<2xptr<i32>> = ptr_add %dst, %i
  store %q, %old
  return
}
)",
                                2, {address(cells)}),
            (Vec{0, 1}));
  EXPECT_EQ(cells, (Vec{9, 1}));
}

// %a and %b hold 0..3 as 2x2, times the given factor; acc holds 1.
std::string dot_kernel(const std::string& in, const std::string& acc,
                       const std::string& attrs = "") {
  std::string one = acc[0] == 'i' ? "1" : "1.0";
  return storing(
      "  %i: tile<4xi32> = arange {end=4, start=0}\n"
      "  %f: tile<4x" +
          in +
          "> = cast %i\n"
          "  %a: tile<2x2x" +
          in +
          "> = reshape %f\n"
          "  %acc: tile<2x2x" +
          acc + "> = const {value=" + one +
          "}\n"
          "  %v: tile<2x2x" +
          acc + "> = dot %a, %a, %acc" + attrs + "\n",
      "2x2", 4, acc);
}

TEST(Dot, IntegersAndFloats) {
  EXPECT_EQ(run_kernel<int32_t>(dot_kernel("i8", "i32"), 4), (Vec{3, 4, 7, 12}));
  std::vector<float> expected = {3, 4, 7, 12};
  EXPECT_EQ(run_kernel<float>(dot_kernel("f16", "f32"), 4), expected);
  EXPECT_EQ(run_kernel<float>(dot_kernel("bf16", "f32"), 4), expected);
  EXPECT_EQ(run_kernel<float>(dot_kernel("f8e4m3", "f32"), 4), expected);
  EXPECT_EQ(run_kernel<float>(dot_kernel("f32", "f32"), 4), expected);
  EXPECT_EQ(run_kernel<double>(dot_kernel("f64", "f64"), 4), (std::vector<double>{3, 4, 7, 12}));
  std::vector<uint16_t> half;
  for (double x : expected) half.push_back(uint16_t(float_to_bits(x, Dtype::kF16)));
  EXPECT_EQ(run_kernel<uint16_t>(dot_kernel("f16", "f16"), 4), half);
}

TEST(Dot, F32OperandsRoundToTf32UnlessIeee) {
  auto run_dot = [](const std::string& attrs) {
    std::string text = storing(
        "  %a: tile<1x1xf32> = const {value=1.00048828125}\n"  // 1 + 2^-11
        "  %acc: tile<1x1xf32> = const {value=0.0}\n"
        "  %v: tile<1x1xf32> = dot %a, %a, %acc" +
            attrs + "\n",
        "1x1", 1, "f32");
    return run_kernel<float>(text, 1)[0];
  };
  float tf32 = 1 + std::ldexp(1.0f, -10);  // a tie, away from zero
  EXPECT_EQ(run_dot(""), tf32 * tf32);
  EXPECT_EQ(run_dot(" {precision=tf32}"), tf32 * tf32);
  EXPECT_EQ(run_dot(" {precision=ieee}"), 1.00048828125f * 1.00048828125f);
}

TEST(Dot, BatchesAreIndependent) {
  EXPECT_EQ(run_kernel<int32_t>(storing(R"(
  %i: tile<8xi32> = arange {end=8, start=0}
  %f: tile<8xi8> = cast %i
  %a: tile<2x2x2xi8> = reshape %f
  %acc: tile<2x2x2xi32> = const {value=0}
  %v: tile<2x2x2xi32> = dot %a, %a, %acc
)",
                                        "2x2x2", 8),
                                8),
            (Vec{2, 3, 6, 11, 46, 55, 66, 79}));
}

TEST(Reduce, FoldsAlongAnAxis) {
  auto sums = [](int axis, const std::string& n) {
    return storing(
        "  %i: tile<8xi32> = arange {end=8, start=0}\n"
        "  %a: tile<2x4xi32> = reshape %i\n"
        "  %v: tile<" +
            n + "xi32> = reduce %a {axis=" + std::to_string(axis) +
            "} "
            "region(%x: i32, %y: i32) {\n    %s: i32 = add %x, %y\n    yield %s\n  }\n",
        n, std::stoll(n));
  };
  EXPECT_EQ(run_kernel<int32_t>(sums(0, "4"), 4), (Vec{4, 6, 8, 10}));
  EXPECT_EQ(run_kernel<int32_t>(sums(1, "2"), 2), (Vec{6, 22}));
}

TEST(Scan, CombinesFromEitherEnd) {
  auto scans = [](int axis, const std::string& attrs) {
    return storing(
        "  %i: tile<8xi32> = arange {end=8, start=0}\n"
        "  %a: tile<2x4xi32> = reshape %i\n"
        "  %v: tile<2x4xi32> = scan %a {axis=" +
            std::to_string(axis) + attrs +
            "} region(%x: i32, %y: i32) {\n    %two: i32 = const {value=2}\n"
            "    %d: i32 = mul %x, %two\n    %s: i32 = add %d, %y\n    yield %s\n  }\n",
        "2x4", 8);
  };
  EXPECT_EQ(run_kernel<int32_t>(scans(0, ""), 8), (Vec{0, 1, 2, 3, 4, 7, 10, 13}));
  EXPECT_EQ(run_kernel<int32_t>(scans(1, ""), 8), (Vec{0, 1, 4, 11, 4, 13, 32, 71}));
  EXPECT_EQ(run_kernel<int32_t>(scans(1, ", reverse=1"), 8), (Vec{34, 17, 8, 3, 94, 45, 20, 7}));
}

TEST(Gather, TakesAlongTheAxisAndZeroOutside) {
  std::vector<int32_t> in = {3, 0, -1, 4, 1, 1, 2, 0};
  auto gathers = [](int axis) {
    return R"(
kernel @k(%out: ptr<i32>, %in: ptr<i32>) {
  %i: tile<8xi32> = arange {end=8, start=0}
  %src: tile<8xptr<i32>> = splat %in
  %p: tile<8xptr<i32>> = ptr_add %src, %i
  %x: tile<8xi32> = load %p
  %index: tile<2x4xi32> = reshape %x
  %a: tile<8xi32> = arange {end=18, start=10}
  %b: tile<2x4xi32> = reshape %a
  %v: tile<2x4xi32> = gather %b, %index {axis=)" +
           std::to_string(axis) + R"(}
  %flat: tile<8xi32> = reshape %v
  %to: tile<8xptr<i32>> = splat %out
  %q: tile<8xptr<i32>> = ptr_add %to, %i
  store %q, %flat
  return
}
)";
  };
  EXPECT_EQ(run_kernel<int32_t>(gathers(1), 8, {address(in)}), (Vec{13, 10, 0, 0, 15, 15, 16, 14}));
  EXPECT_EQ(run_kernel<int32_t>(gathers(0), 8, {address(in)}), (Vec{0, 11, 0, 0, 14, 15, 0, 13}));
}

TEST(Histogram, CountsWhatIsInRangeWhereMasked) {
  auto counts = [](const std::string& op) {
    return storing(
        "  %i: tile<8xi32> = arange {end=8, start=0}\n"
        "  %three: tile<8xi32> = const {value=3}\n"
        "  %x: tile<8xi32> = sub %i, %three\n"
        "  %y: tile<8xi32> = rem %i, %three\n"
        "  %m: tile<8xi1> = cmp %i, %three {pred=gt}\n"
        "  %v: tile<4xi32> = histogram " +
            op + " {bins=4}\n",
        "4", 4);
  };
  EXPECT_EQ(run_kernel<int32_t>(counts("%x"), 4), (Vec{1, 1, 1, 1}));
  EXPECT_EQ(run_kernel<int32_t>(counts("%y"), 4), (Vec{3, 3, 2, 0}));
  EXPECT_EQ(run_kernel<int32_t>(counts("%y, %m"), 4), (Vec{1, 2, 1, 0}));
}

TEST(Reduce, SeveralValuesAtOnceToScalars) {
  std::vector<int32_t> in = {3, 9, 9, 1};
  EXPECT_EQ(run_kernel<int32_t>(R"(
kernel @k(%out: ptr<i32>, %in: ptr<i32>) {
  %i: tile<4xi32> = arange {end=4, start=0}
  %src: tile<4xptr<i32>> = splat %in
  %p: tile<4xptr<i32>> = ptr_add %src, %i
  %x: tile<4xi32> = load %p
  %best: i32, %where: i32 = reduce %x, %i {axis=0} region(%a: i32, %ia: i32, %b: i32, %ib: i32) {
    %gt: i1 = cmp %b, %a {pred=gt}
    %v: i32 = select %gt, %b, %a
    %w: i32 = select %gt, %ib, %ia
    yield %v, %w
  }
  %one: i32 = const {value=1}
  %out1: ptr<i32> = ptr_add %out, %one
  store %out, %best
  store %out1, %where
  return
}
)",
                                2, {address(in)}),
            (Vec{9, 1}));
}

TEST(Errors, AssertAssumeStepAndFuel) {
  auto run_with = [](const std::string& body, Options options = {}) {
    std::string text = "kernel @k(%c: i1, %n: i32) {\n" + body + "  return\n}\n";
    std::vector<uint64_t> args = {0, 0};
    return run(parse_kernel(text), {{1, 1, 1}, args}, options);
  };
  Status status = run_with("  assert %c {message=\"x is\\nbad.\"}\n");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, DiagKind::kAssertFailed);
  EXPECT_NE(status.error().message.find("x is bad."), std::string::npos);
  EXPECT_TRUE(run_with("  assert %c, %c {message=\"masked off\"}\n").ok());

  EXPECT_EQ(run_with("  assume %c\n").error().kind, DiagKind::kFalseAssumption);
  EXPECT_EQ(run_with("  for %n, %n, %n region(%i: i32) {\n    yield\n  }\n").error().kind,
            DiagKind::kBadLoopStep);
  Options options;
  options.fuel = 100;
  const char* forever =
      "  while region() {\n    %t: i1 = const {value=1}\n    condition %t\n"
      "  } region() {\n    yield\n  }\n";
  EXPECT_EQ(run_with(forever, options).error().kind, DiagKind::kOutOfFuel);
}

}  // namespace
}  // namespace tilewright::interp
