// Scheduled loops against unscheduled ones in the interpreter, bit for bit. There, copies land as
// late as they may, a slot that is read too early or written too soon is an error, and nothing may
// be read that the unscheduled loop does not read.
#include <gtest/gtest.h>

#include <set>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"
#include "codegen/schedule/schedule.h"
#include "tests/unit/schedule/loop_memory.h"

namespace tilewright::schedule {
namespace {

using Places = std::set<std::pair<size_t, uint64_t>>;  // buffer, offset

// Runs and notes what is read; with `allowed`, reads outside of it are errors.
Status run(const ir::Module& module, const RandomLoop& loop, Memory& memory, Places& read,
           const Places* allowed) {
  auto ranges = memory.ranges();
  interp::Options options;
  options.may_access = [&](uint64_t address, size_t bytes, bool is_write) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      auto [begin, size] = ranges[i];
      if (address < begin || address + bytes > begin + size) continue;
      if (is_write) return true;
      read.insert({i, address - begin});
      return allowed == nullptr || allowed->contains({i, address - begin});
    }
    return false;
  };
  return interp::run(module, {{1, 1, 1}, memory.arguments(loop)}, options);
}

class ScheduledLoops : public testing::TestWithParam<const char*> {};

TEST_P(ScheduledLoops, ScheduledLoopsComputeTheSame) {
  const Target& target = *find_target(GetParam());
  int async = 0, staged = 0, ahead = 0, deep = 0, single = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomLoop loop = random_loop(seed);
    auto module = ir::parse("random.ir", loop.text);
    ASSERT_TRUE(module.ok()) << seed << "\n" << module.error().text() << loop.text;
    Status status = passes::run_pipeline(*module, {.verify_each = true, .observe = {}});
    ASSERT_TRUE(status.ok()) << seed << "\n" << status.error().text();

    Memory expected(seed), actual(seed);
    Places reads, scheduled_reads;
    ASSERT_TRUE((status = run(*module, loop, expected, reads, nullptr)).ok())
        << seed << "\n"
        << status.error().text() << loop.text;

    ir::Module scheduled = *module;
    // Some as if shared memory had one slot.
    const ScheduleOptions options{.max_stages = seed % 8 == 0 ? 1 : 32};
    ScheduleReport report = schedule(scheduled, target, options);
    ASSERT_TRUE((status = ir::verify(scheduled)).ok()) << seed << "\n" << status.error().text();
    ASSERT_TRUE((status = run(scheduled, loop, actual, scheduled_reads, &reads)).ok())
        << seed << "\n"
        << status.error().text() << ir::print(*module) << ir::print(scheduled);
    ASSERT_TRUE(actual.same_results(expected)) << seed << "\n"
                                               << ir::print(*module) << ir::print(scheduled);

    std::string text = ir::print(scheduled);
    schedule(scheduled, target, options);
    ASSERT_EQ(ir::print(scheduled), text) << seed << ": the pass is not idempotent";

    for (const LoopReport& l : report.loops) {
      deep += l.stages > 2;
      single += l.stages == 1 && l.shared_bytes > 0;
      for (const LoadReport& load : l.loads) {
        async += load.how == LoadReport::How::kAsync;
        staged += load.how == LoadReport::How::kStaged;
        ahead += load.how == LoadReport::How::kAhead;
      }
    }
  }
  EXPECT_GT(ahead, 50);
  EXPECT_GT(staged, 10);
  if (target.has_cp_async) {
    EXPECT_GT(async, 60);
    EXPECT_GT(deep, 30);
    EXPECT_GT(single, 5);
  } else {
    EXPECT_EQ(async, 0);
  }
}

// The other test is worth something only if it sees a wait that is too short.
TEST(ScheduleFuzz, AShortWaitIsSeen) {
  int caught = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomLoop loop = random_loop(seed);
    auto module = ir::parse("random.ir", loop.text);
    ASSERT_TRUE(module.ok() && passes::run_pipeline(*module).ok());
    if (loop.step > 0 ? loop.lo >= loop.hi : loop.lo <= loop.hi) continue;
    schedule(*module, *find_target("sm_80"));
    bool changed = false;
    ir::walk(*module, module->body, [&](ir::OpId id) {
      ir::OpNode& op = module->op(id);
      bool in_loop = module->region(op.parent).parent.valid();
      if (op.op != ir::Op::CopyWait || !in_loop) return;
      op.attrs.set("pending", op.attrs.get_int("pending") + 1);
      changed = true;
    });
    if (!changed) continue;
    Memory memory(seed);
    Places reads;
    Status status = run(*module, loop, memory, reads, nullptr);
    ASSERT_FALSE(status.ok()) << seed;
    EXPECT_EQ(status.error().kind, DiagKind::kUninitializedRead);
    ++caught;
  }
  EXPECT_GT(caught, 10);
}

INSTANTIATE_TEST_SUITE_P(Targets, ScheduledLoops, testing::Values("sm_75", "sm_80"));

}  // namespace
}  // namespace tilewright::schedule
