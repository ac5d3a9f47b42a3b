// Pipelined loops around a dot: copies into swizzled slots, fragments read from them a step ahead,
// the loop turned. Emulated against the interpreter, which runs the loop as it was written; copies
// land as late as the waits allow.
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

struct Product {
  Dtype operand = Dtype::kF16, sum = Dtype::kF32;
  int m = 64, n = 64, k = 32;
  bool a_k_major = true, b_k_major = true;
  int warps = 4, stages = 3, trips = 5;
  bool masked = false;
  std::string target = "sm_80";

  std::string name() const {
    return std::string(dtype_name(operand)) + " " + std::to_string(m) + "x" + std::to_string(n) +
           "x" + std::to_string(k) + (a_k_major ? " n" : " t") + (b_k_major ? "t" : "n") +
           " warps " + std::to_string(warps) + " stages " + std::to_string(stages) + " trips " +
           std::to_string(trips) + (masked ? " masked" : "") + " " + target;
  }
};

constexpr int kMostTrips = 6;

// Text of %<name>_off, the element offsets of a rows x cols tile; the dimension of K is `k_axis`.
std::string offsets(const std::string& name, int rows, int cols, int row_step, int col_step) {
  std::string r = std::to_string(rows), c = std::to_string(cols), shape = r + "x" + c;
  auto line = [&](const std::string& value, const std::string& type, const std::string& rest) {
    return "  %" + name + value + ": tile<" + type + "xi32> = " + rest + "\n";
  };
  return line("_r", r, "arange {end=" + r + ", start=0}") +
         line("_c", c, "arange {end=" + c + ", start=0}") +
         line("_r1", r + "x1", "expand_dims %" + name + "_r {axis=1}") +
         line("_c1", "1x" + c, "expand_dims %" + name + "_c {axis=0}") +
         line("_rs", r + "x1", "const {value=" + std::to_string(row_step) + "}") +
         line("_cs", "1x" + c, "const {value=" + std::to_string(col_step) + "}") +
         line("_r2", r + "x1", "mul %" + name + "_r1, %" + name + "_rs") +
         line("_c2", "1x" + c, "mul %" + name + "_c1, %" + name + "_cs") +
         line("_r3", shape, "broadcast %" + name + "_r2") +
         line("_c3", shape, "broadcast %" + name + "_c2") +
         line("_off", shape, "add %" + name + "_r3, %" + name + "_c3");
}

std::string text_of(const Product& p) {
  std::string in(dtype_name(p.operand)), out(dtype_name(p.sum));
  std::string sa = std::to_string(p.m) + "x" + std::to_string(p.k);
  std::string sb = std::to_string(p.k) + "x" + std::to_string(p.n);
  std::string sc = std::to_string(p.m) + "x" + std::to_string(p.n);
  int depth = p.k * kMostTrips;
  int a_step = p.a_k_major ? p.k : p.k * p.m, b_step = p.b_k_major ? p.k : p.k * p.n;
  std::string t = "kernel @product(%a: ptr<" + in + "> {div=16}, %b: ptr<" + in +
                  "> {div=16}, %c: ptr<" + out + "> {div=16}, %trips: i32, %depth: i32 {div=16}) " +
                  "attributes {num_stages=" + std::to_string(p.stages) +
                  ", num_warps=" + std::to_string(p.warps) + "} {\n";
  t += "  %zero: i32 = const {value=0}\n  %one: i32 = const {value=1}\n";
  t += p.a_k_major ? offsets("a", p.m, p.k, depth, 1) : offsets("a", p.m, p.k, 1, p.m);
  t += p.b_k_major ? offsets("b", p.k, p.n, 1, depth) : offsets("b", p.k, p.n, p.n, 1);
  t += offsets("c", p.m, p.n, p.n, 1);
  for (auto [name, shape, type] :
       {std::tuple{"a", sa, in}, std::tuple{"b", sb, in}, std::tuple{"c", sc, out}}) {
    std::string tile = "tile<" + shape + "xptr<" + type + ">>", v(name);
    t += "  %" + v + "_base: " + tile + " = splat %" + v + "\n";
    t += "  %" + v + "_ptr: " + tile + " = ptr_add %" + v + "_base, %" + v + "_off\n";
  }
  t += "  %as: tile<" + sa + "xi32> = const {value=" + std::to_string(a_step) + "}\n";
  t += "  %bs: tile<" + sb + "xi32> = const {value=" + std::to_string(b_step) + "}\n";
  t += "  %start: tile<" + sc + "x" + out + "> = const {value=0" +
       std::string(is_float(p.sum) ? ".0" : "") + "}\n";
  std::string ta = "tile<" + sa + "xptr<" + in + ">>", tb = "tile<" + sb + "xptr<" + in + ">>";
  std::string tc = "tile<" + sc + "x" + out + ">";
  t += "  %sum: " + tc + ", %ae: " + ta + ", %be: " + tb +
       " = for %zero, %trips, %one, %start, %a_ptr, %b_ptr region(%i: i32, %acc: " + tc +
       ", %ap: " + ta + ", %bp: " + tb + ") {\n";
  std::string mask_a, mask_b;
  if (p.masked) {
    std::string k = std::to_string(p.k);
    t += "    %step: i32 = const {value=" + k + "}\n    %done: i32 = mul %i, %step\n";
    t += "    %left: i32 = sub %depth, %done\n";
    t += "    %la: tile<1x" + k + "xi32> = splat %left\n    %lb: tile<" + k +
         "x1xi32> = splat %left\n";
    t += "    %ma1: tile<1x" + k + "xi1> = cmp %a_c1, %la {pred=lt}\n";
    t += "    %mb1: tile<" + k + "x1xi1> = cmp %b_r1, %lb {pred=lt}\n";
    t += "    %ma: tile<" + sa + "xi1> = broadcast %ma1\n";
    t += "    %mb: tile<" + sb + "xi1> = broadcast %mb1\n";
    mask_a = ", %ma";
    mask_b = ", %mb";
  }
  t += "    %at: tile<" + sa + "x" + in + "> = load %ap" + mask_a + "\n";
  t += "    %bt: tile<" + sb + "x" + in + "> = load %bp" + mask_b + "\n";
  t += "    %next: " + tc + " = dot %at, %bt, %acc\n";
  t += "    %an: " + ta + " = ptr_add %ap, %as\n    %bn: " + tb + " = ptr_add %bp, %bs\n";
  t += "    yield %next, %an, %bn\n  }\n  store %c_ptr, %sum\n  return\n}\n";
  return t;
}

Comparison comparison(const Product& p) {
  int depth = p.k * kMostTrips;
  int given = p.trips * p.k - (p.masked ? 16 : 0);
  return {.ir = text_of(p),
          .arguments = {small_integers(p.operand, static_cast<size_t>(p.m * depth), -3, 3, 1),
                        small_integers(p.operand, static_cast<size_t>(p.n * depth), -3, 3, 2),
                        zeros(p.sum, static_cast<size_t>(p.m * p.n)), scalar(Dtype::kI32, p.trips),
                        scalar(Dtype::kI32, given)},
          .target = p.target};
}

void check(const Product& p) {
  SCOPED_TRACE(p.name());
  comparison(p).check();
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Pipeline, TypesAndMajors) {
  using enum Dtype;
  for (auto [type, sum, k] :
       {std::tuple{kF16, kF32, 32}, {kBF16, kF32, 64}, {kF32, kF32, 32}, {kI8, kI32, 64}})
    for (bool a : {true, false})
      for (bool b : {true, false}) check({type, sum, 64, 64, k, a, b});
  for (bool b : {true, false}) check({kF8E4M3, kF32, 64, 64, 64, true, b, 4, 3, 5, false, "sm_89"});
  check({kF8E4M3, kF32, 32, 32, 64, true, true, 4, 3, 5, false, "sm_80"});  // through f16
}

TEST(Pipeline, WarpsStagesAndTrips) {
  for (int warps : {1, 2, 8}) check({.warps = warps});
  for (int stages : {2, 4}) check({.stages = stages});
  // No iteration, fewer than there are stages, one more.
  for (int trips : {0, 1, 2, 4}) check({.stages = 4, .trips = trips});
  check({.k = 16});  // one step: no fragments ahead, the loop as it was
  check({.k = 128, .b_k_major = false, .stages = 2});
  check({.m = 16, .n = 32, .k = 64});
  check({.target = "sm_75"});
}

TEST(Pipeline, MasksAlongK) {
  check({.masked = true});
  check({.b_k_major = false, .stages = 2, .masked = true});
  check({.operand = Dtype::kI8, .sum = Dtype::kI32, .k = 64, .trips = 2, .masked = true});
}

// Attention's loop without the softmax: p = q k^T, o += p v, and g += p k, which reads k's slot
// once more where the next one's is about to be read.
Comparison several_dots(int warps, int stages, int trips, const std::string& target) {
  std::string t =
      "kernel @several(%q: ptr<f16> {div=16}, %k: ptr<f16> {div=16}, %v: ptr<f16> {div=16}, "
      "%o: ptr<f32> {div=16}, %g: ptr<f32> {div=16}, %trips: i32) attributes {num_stages=" +
      std::to_string(stages) + ", num_warps=" + std::to_string(warps) + "} {\n";
  t += "  %zero: i32 = const {value=0}\n  %one: i32 = const {value=1}\n";
  t += offsets("q", 32, 32, 32, 1);
  for (std::string name : {"q", "k", "v", "o", "g"}) {
    std::string type =
        "tile<32x32xptr<" + std::string(name == "o" || name == "g" ? "f32" : "f16") + ">>";
    t += "  %" + name + "s: " + type + " = splat %" + name + "\n";
    t += "  %" + name + "p: " + type + " = ptr_add %" + name + "s, %q_off\n";
  }
  t += R"(
  %qt: tile<32x32xf16> = load %qp
  %none: tile<32x32xf32> = const {value=0.0}
  %step: tile<32x32xi32> = const {value=1024}
  %osum: tile<32x32xf32>, %gsum: tile<32x32xf32>, %ke: tile<32x32xptr<f16>>, %ve: tile<32x32xptr<f16>> = for %zero, %trips, %one, %none, %none, %kp, %vp region(%i: i32, %oa: tile<32x32xf32>, %ga: tile<32x32xf32>, %ka: tile<32x32xptr<f16>>, %va: tile<32x32xptr<f16>>) {
    %kt: tile<32x32xf16> = load %ka
    %kt2: tile<32x32xf16> = permute %kt {order=[1, 0]}
    %s: tile<32x32xf32> = dot %qt, %kt2, %none
    %p: tile<32x32xf16> = cast %s
    %vt: tile<32x32xf16> = load %va
    %on: tile<32x32xf32> = dot %p, %vt, %oa
    %gn: tile<32x32xf32> = dot %p, %kt, %ga
    %kn: tile<32x32xptr<f16>> = ptr_add %ka, %step
    %vn: tile<32x32xptr<f16>> = ptr_add %va, %step
    yield %on, %gn, %kn, %vn
  }
  store %op, %osum
  store %gp, %gsum
  return
}
)";
  return {
      .ir = t,
      .arguments = {small_integers(Dtype::kF16, 1024, -1, 1, 1),
                    small_integers(Dtype::kF16, 1024 * kMostTrips, -2, 2, 2),
                    small_integers(Dtype::kF16, 1024 * kMostTrips, -3, 3, 3),
                    zeros(Dtype::kF32, 1024), zeros(Dtype::kF32, 1024), scalar(Dtype::kI32, trips)},
      .target = target};
}

TEST(Pipeline, SeveralDots) {
  for (int warps : {1, 2, 4})
    for (int stages : {2, 3, 4})
      for (int trips : {0, 1, 2, 5}) {
        SCOPED_TRACE(std::to_string(warps) + " warps, " + std::to_string(stages) + " stages, " +
                     std::to_string(trips) + " trips");
        several_dots(warps, stages, trips, "sm_80").check();
      }
  several_dots(4, 3, 5, "sm_75").check();
  // The wait and the next k's first fragments stand before the last products.
  std::string text = several_dots(2, 3, 5, "sm_80").source().value().text;
  text = text.substr(text.find("TW_NO_UNROLL"));
  text = text.substr(0, text.find("tw_cp_async_wait<0>"));
  size_t wait = text.find("tw_cp_async_wait<1>");
  ASSERT_NE(wait, text.npos) << text;
  EXPECT_EQ(count(text.substr(0, wait), "tw_mma") + 1, count(text, "tw_mma")) << text;
  EXPECT_GT(count(text.substr(wait), "tw_ldmatrix"), 0) << text;
}

// The texts of the shapes that matter: fragments by ldmatrix alone, a wait in the middle of the
// dot, no value in local memory, registers for the blocks an SM should hold.
TEST(Pipeline, MainLoops) {
  struct Case {
    Product product;
    int blocks;
  };
  using enum Dtype;
  const Case cases[] = {
      {{kF16, kF32, 128, 128, 32, true, true, 4, 4}, 2},
      {{kF16, kF32, 128, 128, 64, true, true, 4, 3}, 2},
      {{kBF16, kF32, 128, 256, 32, true, true, 8, 4}, 1},
      {{kBF16, kF32, 128, 128, 32, true, false, 4, 4}, 2},
      {{kF32, kF32, 128, 128, 32, true, true, 4, 3}, 2},
      {{kI8, kI32, 128, 128, 64, true, true, 4, 4}, 2},
      {{kI8, kI32, 128, 128, 64, true, false, 4, 4}, 2},
  };
  for (Case c : cases)
    for (const char* target : {"sm_80", "sm_89", "sm_90"}) {
      SCOPED_TRACE(c.product.name() + " " + target);
      c.product.target = target;
      Source source = comparison(c.product).source().value();
      int steps = c.product.k * dtype_bytes(c.product.operand) / 32;
      // A: 4 tiles, B: 8 tiles in pairs; the first step's stand before the loop as well.
      std::string text = source.text.substr(0, source.text.find("tw_cp_async_wait<0>"));
      EXPECT_EQ(count(text, "tw_ldmatrix"), 8 * (steps + 1)) << text;
      EXPECT_EQ(count(text, "tw_shared_load"), 0) << text;
      size_t loop = text.find("TW_NO_UNROLL"), wait = text.find("async_wait", loop);
      EXPECT_LT(text.find("tw_mma", loop), wait) << text;
      EXPECT_NE(text.find("tw_mma", wait), text.npos) << text;
      if (!nvrtc_info().ok()) continue;
      Binary binary = compile(source, *find_target(target)).value();
      Resources resources = read_resources(binary.cubin, source).value();
      EXPECT_EQ(resources.spill_instructions, 0);
      EXPECT_EQ(resources.stack_bytes, 0);
      EXPECT_LE(resources.registers * source.threads * c.blocks, 65536) << resources.registers;
    }
}

}  // namespace
}  // namespace tilewright::cuda
