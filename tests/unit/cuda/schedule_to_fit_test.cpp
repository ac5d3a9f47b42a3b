// Stages within the shared memory of the target, and what the report says of it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "codegen/cuda/cuda.h"
#include "codegen/passes/passes.h"

namespace tilewright::cuda {
namespace {

using How = schedule::LoadReport::How;

// The 128x128x32 product of the schedule's golden file: 16 KB a stage.
ir::Module product(int stages) {
  std::ifstream in(TILEWRIGHT_SOURCE_DIR "/tests/golden/schedule/matmul.ir");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.erase(text.find("# --- expected"));
  text.erase(0, text.find('\n') + 1);
  auto module = ir::parse("matmul.ir", text);
  EXPECT_TRUE(module.ok());
  module->attrs.set("num_stages", int64_t{stages});
  EXPECT_TRUE(passes::run_pipeline(*module).ok());
  return std::move(*module);
}

TEST(ScheduleToFit, AsManyStagesAsAskedFor) {
  const Target& target = *find_target("sm_80");
  auto source = emit(product(4), target);
  ASSERT_TRUE(source.ok()) << source.error().text();
  ASSERT_EQ(source->schedule.loops.size(), 1u);
  const schedule::LoopReport& loop = source->schedule.loops[0];
  EXPECT_EQ(loop.requested, 4);
  EXPECT_EQ(loop.stages, 4);
  EXPECT_EQ(loop.why, "");
  EXPECT_EQ(loop.shared_bytes, 4 * 16384);
  EXPECT_EQ(source->shared_bytes, 4 * 16384);
  ASSERT_EQ(loop.loads.size(), 2u);
  for (const schedule::LoadReport& load : loop.loads) EXPECT_EQ(load.how, How::kAsync);
  EXPECT_EQ(source->schedule.note, "");
  EXPECT_NE(source->text.find("tw_cp_async"), std::string::npos);
}

TEST(ScheduleToFit, FewerWhereTheTargetIsSmaller) {
  for (auto [name, stages] : {std::pair("sm_80", 10), std::pair("sm_89", 6)}) {
    const Target& target = *find_target(name);
    auto source = emit(product(12), target);
    ASSERT_TRUE(source.ok()) << source.error().text();
    const schedule::LoopReport& loop = source->schedule.loops.at(0);
    EXPECT_EQ(loop.requested, 12);
    EXPECT_EQ(loop.stages, stages) << name;
    EXPECT_NE(loop.why, "");
    EXPECT_NE(source->schedule.note.find("shared memory"), std::string::npos);
    EXPECT_LE(source->shared_bytes, target.shared_per_block);
  }
}

TEST(ScheduleToFit, OneStageIsNoPipeline) {
  auto source = emit(product(1), *find_target("sm_80"));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->schedule.loops.at(0).stages, 1);
  EXPECT_FALSE(source->schedule.uses_shared());
  EXPECT_EQ(source->text.find("tw_cp_async"), std::string::npos);
}

TEST(ScheduleToFit, WithoutAsynchronousCopiesRegistersAreTheWay) {
  auto source = emit(product(3), *find_target("sm_75"));
  ASSERT_TRUE(source.ok()) << source.error().text();
  const schedule::LoopReport& loop = source->schedule.loops.at(0);
  EXPECT_EQ(loop.stages, 2);
  for (const schedule::LoadReport& load : loop.loads) EXPECT_EQ(load.how, How::kStaged);
  EXPECT_EQ(source->text.find("tw_cp_async"), std::string::npos);
}

// What does not fit even without stages is the caller's error, as it was.
TEST(ScheduleToFit, WhatNeverFitsIsAnError) {
  std::string text =
      R"(kernel @k(%p: ptr<f32> {div=16}, %n: i32) attributes {num_warps=4, num_stages=3} {
    %zero: i32 = const {value=0}
    %one: i32 = const {value=1}
    %r: tile<256xi32> = arange {start=0, end=256}
    %a: tile<256x1xi32> = expand_dims %r {axis=1}
    %b: tile<1x256xi32> = expand_dims %r {axis=0}
    %w: tile<256x1xi32> = const {value=256}
    %aw: tile<256x1xi32> = mul %a, %w
    %x: tile<256x256xi32> = broadcast %aw
    %y: tile<256x256xi32> = broadcast %b
    %o: tile<256x256xi32> = add %x, %y
    %s: tile<256x256xptr<f32>> = splat %p
    %q: tile<256x256xptr<f32>> = ptr_add %s, %o
    %z: tile<256x256xf32> = const {value=0.0}
    %d: tile<256x256xf32> = for %zero, %n, %one, %z region(%i: i32, %acc: tile<256x256xf32>) {
      %v: tile<256x256xf32> = load %q
      %e: tile<256x256xf32> = dot %v, %v, %acc {precision=ieee}
      yield %e
    }
    store %q, %d
    return
  })";
  auto module = ir::parse("big.ir", text);
  ASSERT_TRUE(module.ok()) << module.error().text();
  ASSERT_TRUE(passes::run_pipeline(*module).ok());
  auto source = emit(*module, *find_target("sm_89"));
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().kind, DiagKind::kOutOfResources);
}

}  // namespace
}  // namespace tilewright::cuda
