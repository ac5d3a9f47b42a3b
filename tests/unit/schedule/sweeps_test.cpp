#include "codegen/schedule/sweeps.h"

#include <gtest/gtest.h>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"

namespace tilewright::schedule {
namespace {

// y = x - sum(x[0 … n)), in two sweeps over [lo, n) of 8 elements a step.
std::string kernel(const std::string& between, const std::string& second_bound = "%n") {
  return R"(
kernel @k(%x: ptr<f32>, %y: ptr<f32>, %sums: ptr<f32>, %lo: i32, %n: i32, %m: i32) attributes {num_warps=1} {
  %step: i32 = const {value=8}
  %i: tile<8xi32> = arange {end=8, start=0}
  %xs: tile<8xptr<f32>> = splat %x
  %ys: tile<8xptr<f32>> = splat %y
  %ns: tile<8xi32> = splat %n
  %zero: tile<8xf32> = const {value=0.0}
  %total: tile<8xf32> = for %lo, %n, %step, %zero region(%k: i32, %acc: tile<8xf32>) {
    %ks: tile<8xi32> = splat %k
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
         "  for %lo, " + second_bound + R"(, %step region(%k.1: i32) {
    %ks.1: tile<8xi32> = splat %k.1
    %at.1: tile<8xi32> = add %ks.1, %i
    %mask.1: tile<8xi1> = cmp %at.1, %ns {pred=lt}
    %p.1: tile<8xptr<f32>> = ptr_add %xs, %at.1
    %v.1: tile<8xf32> = load %p.1, %mask.1, %zero
    %d: tile<8xf32> = sub %v.1, %all
    %q: tile<8xptr<f32>> = ptr_add %ys, %at.1
    store %q, %d, %mask.1
    yield
  }
  return
}
)";
}

ir::Module module_of(const std::string& text) {
  ir::Module module = ir::parse("k.ir", text).value();
  EXPECT_TRUE(passes::run_pipeline(module).ok());
  return module;
}

std::vector<float> run(const ir::Module& module, int lo, int n) {
  std::vector<float> x(32), y(32, -1), sums(1, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 7);
  auto address = [](auto& buffer) { return reinterpret_cast<uint64_t>(buffer.data()); };
  std::vector<uint64_t> arguments = {address(x),
                                     address(y),
                                     address(sums),
                                     static_cast<uint32_t>(lo),
                                     static_cast<uint32_t>(n),
                                     static_cast<uint32_t>(n)};
  Status status = interp::run(module, {{1, 1, 1}, arguments});
  if (!status) ADD_FAILURE() << status.error().text() << ir::print(module);
  y.push_back(sums[0]);
  return y;
}

int count(const ir::Module& module, ir::Op op) {
  int found = 0;
  ir::walk(module, module.body, [&](ir::OpId id) { found += module.op(id).op == op; });
  return found;
}

// Through another argument: the tile stays.
constexpr const char* kStoreSum = "  store %sums, %sum\n";
// Through the one that is read, by the last element: it does not.
constexpr const char* kStoreBack = R"(
  %c31: i32 = const {value=31}
  %end: ptr<f32> = ptr_add %x, %c31
  store %end, %sum
)";

TEST(Sweeps, OneStepLoadsItsTileOnce) {
  ir::Module before = module_of(kernel(kStoreSum)), after = before;
  ASSERT_TRUE(merge_sweeps(after));
  ASSERT_TRUE(ir::verify(after).ok()) << ir::print(after);
  EXPECT_EQ(count(after, ir::Op::For), 2);   // where there are more steps
  EXPECT_EQ(count(after, ir::Op::Load), 3);  // two there and one
  for (int lo : {0, 3, 24, 30})
    for (int n : {0, 1, 3, 4, 7, 8, 9, 11, 12, 16, 31, 32}) {
      SCOPED_TRACE(std::to_string(lo) + " to " + std::to_string(n));
      EXPECT_EQ(run(before, lo, n), run(after, lo, n));
    }
  EXPECT_FALSE(merge_sweeps(after));  // a second time there is nothing
}

TEST(Sweeps, NothingIsKeptAcrossAWriteToIt) {
  ir::Module module = module_of(kernel(kStoreBack));
  std::string text = ir::print(module);
  EXPECT_FALSE(merge_sweeps(module));
  EXPECT_EQ(ir::print(module), text);
}

TEST(Sweeps, LoopsOverOtherRangesStay) {
  ir::Module module = module_of(kernel(kStoreSum, "%m"));
  EXPECT_FALSE(merge_sweeps(module));
}

// 8192 elements for one warp are 256 registers a thread.
TEST(Sweeps, NoMoreIsKeptThanThereIsRoomFor) {
  std::string text = kernel(kStoreSum);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"tile<8x", "tile<8192x"},
                                 {"end=8,", "end=8192,"},
                                 {"{value=8}", "{value=8192}"}})
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
  ir::Module module = module_of(text);
  EXPECT_FALSE(merge_sweeps(module));
  for (size_t at = text.find("num_warps=1"); at != text.npos; at = text.npos)
    text.replace(at, 11, "num_warps=16");
  module = module_of(text);
  EXPECT_TRUE(merge_sweeps(module));
}

}  // namespace
}  // namespace tilewright::schedule
