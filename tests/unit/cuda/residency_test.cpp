#include "codegen/cuda/residency.h"

#include <gtest/gtest.h>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda {
namespace {

Source emitted(const std::string& body, const char* target = "sm_90", int warps = 8) {
  std::string text =
      "kernel @k(%x: ptr<f32> {div=16}, %y: ptr<f32> {div=16}, %n: i32) attributes "
      "{num_warps=" +
      std::to_string(warps) + "} {\n" + R"(
    %i: tile<8192xi32> = arange {end=8192, start=0}
    %xs: tile<8192xptr<f32>> = splat %x
    %xp: tile<8192xptr<f32>> = ptr_add %xs, %i
    %ys: tile<8192xptr<f32>> = splat %y
    %yp: tile<8192xptr<f32>> = ptr_add %ys, %i
    %v: tile<8192xf32> = load %xp
)" + body +
      "    return\n}\n";
  return emit(ir::parse("k.ir", text).value(), *find_target(target)).value();
}

constexpr const char* kCopy = "    store %yp, %v\n";
constexpr const char* kRowMinusSum = R"(
    %s: f32 = reduce %v {axis=0} region(%a: f32, %b: f32) {
      %c: f32 = add %a, %b
      yield %c
    }
    %t: tile<8192xf32> = splat %s
    %w: tile<8192xf32> = sub %v, %t
    store %yp, %w
)";

// Each thread holds 32 elements; only those that a reduction is waited for with must be in
// registers at once.
TEST(Residency, AsManyBlocksAsHaveRoomForWhatIsHeld) {
  EXPECT_EQ(emitted(kCopy).min_blocks, 6);
  EXPECT_EQ(emitted(kRowMinusSum).min_blocks, 4);
  EXPECT_EQ(emitted(kRowMinusSum, "sm_90", 4).min_blocks, 5);
  EXPECT_EQ(emitted(kRowMinusSum, "sm_90", 1).min_blocks, 8);
  EXPECT_EQ(emitted(kCopy, "sm_75").min_blocks, 4);
  EXPECT_NE(emitted(kCopy).text.find("TW_KERNEL_BLOCKS(256, 6)"), std::string::npos);
}

TEST(Residency, CarriedValuesAreHeldThroughTheLoop) {
  std::string loop = R"(
    %zero: i32 = const {value=0}
    %one: i32 = const {value=1}
    %sum: tile<8192xf32> = for %zero, %n, %one, %v region(%k: i32, %acc: tile<8192xf32>) {
      %p: tile<8192xptr<f32>> = ptr_add %xp, %k
      %next: tile<8192xf32> = add %acc, %acc
      yield %next
    }
    store %yp, %sum
)";
  EXPECT_EQ(emitted(loop).min_blocks, 4);
}

TEST(Residency, DotsHaveTheSmToThemselves) {
  std::string dot = R"(
    %z: tile<64x64xf32> = const {value=0.0}
    %a: tile<64x64xf32> = dot %z, %z, %z
    %f: tile<4096xf32> = reshape %a
    %q: tile<8192xf32> = cat %f, %f {axis=0}
    store %yp, %q
)";
  EXPECT_EQ(emitted(dot).min_blocks, 1);
}

// 140 values and a bound of 8 blocks, that is 32 registers: lowered until nothing spills.
TEST(Residency, CompileLowersTheBoundUntilNothingSpills) {
  if (!nvrtc_info().ok()) GTEST_SKIP() << nvrtc_info().error().message;
  Source source;
  source.entry = "held";
  source.threads = 256;
  source.text = R"(
TW_KERNEL_BLOCKS(256, 8) void held(u64 x) {
  f32 v[140];
  TW_EACH(i, 140) tw_load<1>(v + i, x + (i * 256 + tw_thread_id()) * 4);
  tw_barrier();
  TW_EACH(i, 140) tw_store<1>(x + ((i + 140) * 256 + tw_thread_id()) * 4, v + (139 - i));
}
)";
  const Target& target = *find_target("sm_90");
  source.min_blocks = 1;  // taken as it is
  EXPECT_GT(
      read_resources(compile(source, target).value().cubin, source).value().spill_instructions, 0);
  source.min_blocks = 8;
  Resources resources = read_resources(compile(source, target).value().cubin, source).value();
  EXPECT_EQ(resources.spill_instructions, 0);
  EXPECT_GT(resources.registers, 140);
}

}  // namespace
}  // namespace tilewright::cuda
