#include "codegen/schedule/keep.h"

#include <gtest/gtest.h>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"

namespace tilewright::schedule {
namespace {

constexpr int kSize = 600, kStep = 8;  // more iterations than slots

// y = x - sum(x[lo … n)) in two sweeps; the second one computes its index from its own, %k.
std::string kernel(const std::string& index, const std::string& lo = "%lo",
                   const std::string& step = "%step", const std::string& between = "") {
  return R"(
kernel @k(%x: ptr<f32>, %y: ptr<f32>, %lo: i32, %n: i32, %steps: i32) attributes {num_warps=1} {
  %step: i32 = const {value=8}
  %one: i32 = const {value=1}
  %none: i32 = const {value=0}
  %i: tile<8xi32> = arange {end=8, start=0}
  %xs: tile<8xptr<f32>> = splat %x
  %ys: tile<8xptr<f32>> = splat %y
  %ns: tile<8xi32> = splat %n
  %zero: tile<8xf32> = const {value=0.0}
  %last: i32 = sub %steps, %one
  %total: tile<8xf32> = for )" +
         lo + ", " + (step == "%step" ? "%n" : "%steps") + ", " + step +
         R"( , %zero region(%f: i32, %acc: tile<8xf32>) {
    %start: i32 = mul %f, )" +
         (step == "%step" ? "%one" : "%step") + R"(
    %ks: tile<8xi32> = splat %start
    %at: tile<8xi32> = add %ks, %i
    %mask: tile<8xi1> = cmp %at, %ns {pred=lt}
    %p: tile<8xptr<f32>> = ptr_add %xs, %at
    %v: tile<8xf32> = load %p, %mask, %zero
    %next: tile<8xf32> = add %acc, %v
    yield %next
  }
  %sum: f32 = reduce %total {axis=0} region(%a: f32, %b: f32) {
    %c: f32 = add %a, %b
    yield %c
  }
  %all: tile<8xf32> = splat %sum
)" + between +
         "  %end: tile<8xf32> = for " + lo + ", " + (step == "%step" ? "%n" : "%steps") + ", " +
         step +
         R"( , %zero region(%k: i32, %before: tile<8xf32>) {
)" + index +
         R"(    %start.1: i32 = mul %g, )" + (step == "%step" ? "%one" : "%step") + R"(
    %ks.1: tile<8xi32> = splat %start.1
    %at.1: tile<8xi32> = add %ks.1, %i
    %mask.1: tile<8xi1> = cmp %at.1, %ns {pred=lt}
    %p.1: tile<8xptr<f32>> = ptr_add %xs, %at.1
    %v.1: tile<8xf32> = load %p.1, %mask.1, %zero
    %d: tile<8xf32> = sub %v.1, %all
    %e: tile<8xf32> = sub %d, %before
    %q: tile<8xptr<f32>> = ptr_add %ys, %at.1
    store %q, %e, %mask.1
    yield %e
  }
  store %ys, %end
  return
}
)";
}

const std::string kForward = "    %g: i32 = mul %k, %one\n",
                  kBack = "    %g: i32 = sub %last, %k\n";

ir::Module module_of(const std::string& text) {
  auto parsed = ir::parse("k.ir", text);
  if (!parsed) ADD_FAILURE() << parsed.error().text();
  ir::Module module = std::move(parsed).value();
  EXPECT_TRUE(passes::run_pipeline(module).ok());
  return module;
}

std::vector<float> run(const ir::Module& module, int lo, int n) {
  std::vector<float> x(kSize), y(kSize, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 7);
  std::vector<uint64_t> arguments = {reinterpret_cast<uint64_t>(x.data()),
                                     reinterpret_cast<uint64_t>(y.data()),
                                     static_cast<uint32_t>(lo), static_cast<uint32_t>(n),
                                     static_cast<uint32_t>((n + kStep - 1) / kStep)};
  Status status = interp::run(module, {{1, 1, 1}, arguments});
  if (!status) ADD_FAILURE() << status.error().text() << ir::print(module);
  return y;
}

int count(const ir::Module& module, ir::Op op) {
  int found = 0;
  ir::walk(module, module.body, [&](ir::OpId id) { found += module.op(id).op == op; });
  return found;
}

void expect_kept(const std::string& text, std::initializer_list<int> starts) {
  ir::Module before = module_of(text), after = before;
  std::vector<KeptLoad> kept = keep_rows(after, *find_target("sm_90"));
  ASSERT_EQ(kept.size(), 1u) << ir::print(before);
  EXPECT_EQ(kept[0].slots, 64);
  ASSERT_TRUE(ir::verify(after).ok()) << ir::print(after);
  EXPECT_EQ(count(after, ir::Op::For), 3);
  EXPECT_EQ(count(after, ir::Op::Load), 2);
  EXPECT_EQ(count(after, ir::Op::SharedLoad), 1);
  for (int lo : starts)
    for (int n : {0, 1, 7, 8, 9, 100, 511, 512, 513, 520, 523, 599, 600}) {
      SCOPED_TRACE(std::to_string(lo) + " to " + std::to_string(n));
      EXPECT_EQ(run(before, lo, n), run(after, lo, n));
    }
}

TEST(Keep, TilesOfTheFirstIterations) {
  expect_kept(kernel(kForward), {0, 3, 64, 590});
}

TEST(Keep, FromTheEndToTheBeginning) {
  expect_kept(kernel(kBack, "%none", "%one"), {0});
}

void expect_as_it_was(const std::string& text) {
  ir::Module module = module_of(text);
  std::string before = ir::print(module);
  EXPECT_TRUE(keep_rows(module, *find_target("sm_90")).empty());
  EXPECT_EQ(ir::print(module), before);
}

TEST(Keep, NothingAcrossAWriteToIt) {
  expect_as_it_was(kernel(kForward, "%lo", "%step", "  store %xs, %all\n"));
}

TEST(Keep, NothingThatMayBeOutsideOfTheRange) {
  // From the end, but of a range that does not begin at 0.
  expect_as_it_was(kernel(kBack, "%lo", "%one"));
  expect_as_it_was(kernel("    %g: i32 = sub %steps, %k\n", "%none", "%one"));
}

}  // namespace
}  // namespace tilewright::schedule
