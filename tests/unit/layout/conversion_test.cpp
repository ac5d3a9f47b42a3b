// Conversion plans, executed on numbers for hundreds of layout pairs.
#include "codegen/layout/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "codegen/layout/mma.h"
#include "tests/unit/layout/simulate.h"

namespace tilewright::layout {
namespace {

using Kind = Conversion::Kind;
using Random = std::mt19937;

int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random() % (high - low + 1));
}

// Deals the index bits to registers, lanes and warps at random; what is left over are registers.
// With `mix`, vectors are sums, so that bases are no longer single bits.
LinearLayout random_layout(Random& random, const Shape& shape, int warp_bits, bool replicate,
                           bool mix) {
  int bits = index_bits(shape);
  std::vector<uint32_t> pool;
  for (int i = 0; i < bits; ++i) pool.push_back(1u << i);
  std::shuffle(pool.begin(), pool.end(), random);
  if (mix)
    for (int i = 0; i < 2 * bits && bits > 1; ++i) {
      int a = pick(random, 0, bits - 1), b = pick(random, 0, bits - 1);
      if (a != b) pool[a] ^= pool[b];
    }
  LinearLayout layout;
  layout.shape = shape;
  auto deal = [&](std::vector<uint32_t>& into, int count) {
    for (int i = 0; i < count; ++i) {
      if (pool.empty() || (replicate && random() % 4 == 0)) {
        into.push_back(0);
      } else {
        into.push_back(pool.back());
        pool.pop_back();
      }
    }
  };
  if (random() % 2) deal(layout.reg, pick(random, 0, 2));
  deal(layout.lane, kLaneBits);
  deal(layout.warp, warp_bits);
  layout.reg.insert(layout.reg.end(), pool.begin(), pool.end());
  return layout;
}

void check(const LinearLayout& from, const LinearLayout& to, int bytes,
           const ConversionOptions& options = {}) {
  ASSERT_TRUE(covers(from) && covers(to));
  Conversion plan = plan_conversion(from, to, bytes, options);
  EXPECT_TRUE(Simulation(from, to, bytes).run(plan))
      << "kind " << int(plan.kind) << "\n  " << to_string(from) << "\n  " << to_string(to) << "\n  "
      << bytes << " bytes";
}

struct Mode {
  bool replicate, mix;
};
class RandomPairs : public testing::TestWithParam<Mode> {};

TEST_P(RandomPairs, EveryRegisterGetsItsElement) {
  Random random(7);
  int kinds[4] = {};
  for (int i = 0; i < 400; ++i) {
    Shape shape = {int64_t{1} << pick(random, 0, 5), int64_t{1} << pick(random, 0, 5)};
    int warp_bits = pick(random, 0, 3);
    int bytes = 1 << pick(random, 0, 3);
    LinearLayout from =
        random_layout(random, shape, warp_bits, GetParam().replicate, GetParam().mix);
    LinearLayout to = random_layout(random, shape, warp_bits, GetParam().replicate, GetParam().mix);
    if (random() % 3 == 0) to.warp = from.warp;  // give shuffles a chance
    if (!covers(to)) continue;
    ConversionOptions options;
    options.ldmatrix = random() % 2;
    if (random() % 2) options.max_shared_bytes = 1 << pick(random, 6, 10);
    check(from, to, bytes, options);
    ++kinds[int(plan_conversion(from, to, bytes, options).kind)];
  }
  EXPECT_GT(kinds[int(Kind::kShared)], 50);
  EXPECT_GT(kinds[int(Kind::kShuffles)], 5);
}

INSTANTIATE_TEST_SUITE_P(All, RandomPairs,
                         testing::Values(Mode{false, false}, Mode{true, false}, Mode{false, true},
                                         Mode{true, true}));

// Same warps, everything else at random: mostly solved by shuffles.
TEST(Conversion, WithinWarps) {
  Random random(11);
  int shuffled = 0, renamed = 0;
  for (int i = 0; i < 400; ++i) {
    Shape shape = {int64_t{1} << pick(random, 1, 8)};
    int warp_bits = pick(random, 0, 2);
    LinearLayout from = random_layout(random, shape, warp_bits, random() % 2, random() % 2);
    LinearLayout to = from;
    std::vector<uint32_t*> bits;
    for (uint32_t& b : to.lane) bits.push_back(&b);
    for (uint32_t& b : to.reg) bits.push_back(&b);
    for (int swap = pick(random, 0, 3); swap > 0; --swap)
      std::swap(*bits[random() % bits.size()], *bits[random() % bits.size()]);
    int bytes = 1 << pick(random, 0, 3);
    check(from, to, bytes);
    Kind kind = plan_conversion(from, to, bytes).kind;
    shuffled += kind == Kind::kShuffles;
    renamed += kind == Kind::kNone || kind == Kind::kRegisters;
  }
  EXPECT_GT(shuffled, 200);
  EXPECT_GT(renamed, 20);
}

TEST(Conversion, NothingToDo) {
  LinearLayout layout = blocked({64, 32}, 4, {1, 0}, 4);
  EXPECT_EQ(plan_conversion(layout, layout, 4).kind, Kind::kNone);
}

TEST(Conversion, RegistersAreRenamedAndDuplicated) {
  LinearLayout from = blocked({8, 32}, 1, {1, 0}, 1);  // 8 registers along dimension 0
  LinearLayout to = from;
  std::reverse(to.reg.begin(), to.reg.end());
  Conversion plan = plan_conversion(from, to, 4);
  ASSERT_EQ(plan.kind, Kind::kRegisters);
  EXPECT_EQ(plan.source, (std::vector<int>{0, 4, 2, 6, 1, 5, 3, 7}));
  to.reg.push_back(0);  // a replicated register
  plan = plan_conversion(from, to, 4);
  ASSERT_EQ(plan.kind, Kind::kRegisters);
  EXPECT_EQ(plan.source.size(), 16u);
  EXPECT_EQ(plan_conversion(to, from, 4).kind, Kind::kRegisters);
}

// A lane bit and a register bit trade places: half of the values move, one exchange on each side.
TEST(Conversion, TranspositionTakesOneShuffleInTwo) {
  LinearLayout from = blocked({64}, 1, {0}, 2), to = from;
  std::swap(to.reg[0], to.lane[3]);
  Conversion plan = plan_conversion(from, to, 4);
  ASSERT_EQ(plan.kind, Kind::kShuffles);
  EXPECT_EQ(plan.shuffles.before.size(), 1u);
  EXPECT_EQ(plan.shuffles.after.size(), 1u);
  EXPECT_TRUE(plan.shuffles.stays_in_lane());
  EXPECT_EQ(plan.shuffles.lane_xor, (std::vector<uint32_t>{0, 8}));
}

// From copies in every thread, each thread only picks its own: selects, no shuffle.
TEST(Conversion, PickingFromCopiesNeedsNoShuffle) {
  LinearLayout from;
  from.shape = {64};
  from.reg = {1, 2, 4, 8, 16, 32};
  from.lane.assign(5, 0);
  from.warp = {0};
  LinearLayout to = blocked({64}, 2, {0}, 1);
  Conversion plan = plan_conversion(from, to, 4);
  EXPECT_TRUE(Simulation(from, to, 4).run(plan));
  ASSERT_EQ(plan.kind, Kind::kShuffles);
  EXPECT_TRUE(plan.shuffles.stays_in_lane());
  EXPECT_EQ(plan.shuffles.lane_xor, (std::vector<uint32_t>{0}));
  EXPECT_EQ(conversion_cost(plan, 4), 63);  // selects of a tree over 64 registers
}

// The accumulator of one dot is operand A of the next, register for register.
TEST(Conversion, AccumulatorToOperandAIsFree) {
  MmaTiling tiling{{16, 8, 16}, 4, 1, 16};
  LinearLayout from = mma_accumulator({64, 128}, tiling), to = mma_operand_a({64, 128}, tiling);
  Kind kind = plan_conversion(from, to, 2).kind;
  EXPECT_TRUE(kind == Kind::kNone || kind == Kind::kRegisters);
}

// For tf32 and 8-bit operands the columns move between lanes of the same warp.
TEST(Conversion, AccumulatorToNarrowOperandAShuffles) {
  MmaTiling tf32{{16, 8, 8}, 4, 1, 32}, fp8{{16, 8, 32}, 4, 1, 8};
  LinearLayout from = mma_accumulator({64, 64}, tf32);
  check(from, mma_operand_a({64, 64}, tf32), 4);
  check(from, mma_operand_a({64, 64}, fp8), 1);
  EXPECT_EQ(plan_conversion(from, mma_operand_a({64, 64}, tf32), 4).kind, Kind::kShuffles);
  EXPECT_EQ(plan_conversion(from, mma_operand_a({64, 64}, fp8), 1).kind, Kind::kShuffles);
}

// ---- bank conflicts ----

struct Sides {
  Wavefronts store, load;
};
Sides wavefronts(const LinearLayout& from, const LinearLayout& to, int bytes,
                 const ConversionOptions& options = {}) {
  check(from, to, bytes, options);
  Conversion plan = plan_conversion(from, to, bytes, options);
  EXPECT_EQ(plan.kind, Kind::kShared);
  return {count_wavefronts(plan.shared.store, bytes), count_wavefronts(plan.shared.load, bytes)};
}

TEST(BankConflicts, CounterCountsThem) {
  SharedAccess column;  // lane l reads word 32*l: all in bank 0
  column.offsets = {0, 4};
  column.registers = {0, 1};
  column.lane = {128, 256, 512, 1024, 2048};
  EXPECT_EQ(count_wavefronts(column, 4).actual, 64);
  EXPECT_EQ(count_wavefronts(column, 4).ideal, 2);
  column.lane = {132, 264, 528, 1056, 2112};  // one word further each: free
  EXPECT_EQ(count_wavefronts(column, 4).actual, 2);
  column.lane = {0, 0, 0, 0, 0};  // one word for all: a broadcast
  EXPECT_EQ(count_wavefronts(column, 4).actual, 2);
  column.lane = {2, 4, 8, 16, 32};  // half words
  EXPECT_EQ(count_wavefronts(column, 2).actual, 2);
  column.vector = 4;  // 16 bytes: quarters of a warp
  column.registers.resize(8);
  column.lane = {16, 32, 64, 128, 256};
  EXPECT_EQ(count_wavefronts(column, 4).actual, 8);
  column.lane = {128, 256, 512, 16, 32};
  EXPECT_EQ(count_wavefronts(column, 4).actual, 64);
}

// Transposes of every element width, with vectors on both sides, are free of conflicts.
TEST(BankConflicts, TransposesAreFree) {
  for (int bytes : {1, 2, 4, 8})
    for (int warps : {1, 4, 8})
      for (int64_t rows : {32, 64, 128})
        for (int64_t columns : {64, 128}) {
          int vector = 16 / bytes;
          LinearLayout from = blocked({rows, columns}, warps, {1, 0}, vector);
          LinearLayout to = blocked({rows, columns}, warps, {0, 1}, vector);
          if (plan_conversion(from, to, bytes).kind != Kind::kShared) continue;
          Sides sides = wavefronts(from, to, bytes);
          EXPECT_EQ(sides.store.actual, sides.store.ideal);
          EXPECT_EQ(sides.load.actual, sides.load.ideal);
        }
}

// Global loads of 16 bytes to mma operands: stored by 16 bytes, read by ldmatrix, free of
// conflicts.
TEST(BankConflicts, OperandsUseLdmatrix) {
  MmaTiling tiling{{16, 8, 16}, 2, 2, 16};
  ConversionOptions options{.ldmatrix = true};
  using Access = SharedAccess::Kind;
  for (int64_t k : {32, 64, 128}) {
    struct Case {
      LinearLayout from, to;
      Access kind;
    };
    Case cases[] = {
        {blocked({128, k}, 4, {1, 0}, 8), mma_operand_a({128, k}, tiling), Access::kLdmatrix},
        {blocked({128, k}, 4, {0, 1}, 8), mma_operand_a({128, k}, tiling), Access::kLdmatrixTrans},
        {blocked({k, 128}, 4, {1, 0}, 8), mma_operand_b({k, 128}, tiling), Access::kLdmatrixTrans},
        {blocked({k, 128}, 4, {0, 1}, 8), mma_operand_b({k, 128}, tiling), Access::kLdmatrix},
    };
    for (const Case& c : cases) {
      Sides sides = wavefronts(c.from, c.to, 2, options);
      Conversion plan = plan_conversion(c.from, c.to, 2, options);
      EXPECT_EQ(plan.shared.load.kind, c.kind);
      EXPECT_EQ(plan.shared.load.vector, 8);  // x4
      EXPECT_EQ(plan.shared.store.vector, 8);
      EXPECT_EQ(sides.store.actual, sides.store.ideal);
      EXPECT_EQ(sides.load.actual, sides.load.ideal);
    }
  }
}

// The epilogue: accumulators to rows for wide global stores.
TEST(BankConflicts, EpilogueIsFree) {
  MmaTiling tiling{{16, 8, 16}, 4, 2, 16};
  for (int bytes : {2, 4}) {
    LinearLayout from = mma_accumulator({128, 128}, tiling);
    LinearLayout to = blocked({128, 128}, 8, {1, 0}, 16 / bytes);
    Sides sides = wavefronts(from, to, bytes);
    EXPECT_EQ(sides.store.actual, from.registers() * bytes / 4);  // all 128 bytes of each cycle
    EXPECT_EQ(sides.load.actual, to.registers() * bytes / 4);
  }
}

TEST(Conversion, RepeatsKeepTheBufferSmall) {
  MmaTiling tiling{{16, 8, 16}, 4, 2, 16};
  LinearLayout from = mma_accumulator({128, 256}, tiling);
  LinearLayout to = blocked({128, 256}, 8, {1, 0}, 4);
  Conversion whole = plan_conversion(from, to, 4);
  Conversion parts = plan_conversion(from, to, 4, {.max_shared_bytes = 65536});
  EXPECT_EQ(whole.shared.bytes, 128 * 256 * 4);
  EXPECT_EQ(whole.shared.repeats, 1);
  EXPECT_LE(parts.shared.bytes, 65536);
  EXPECT_EQ(parts.shared.bytes * parts.shared.repeats, whole.shared.bytes);
  EXPECT_TRUE(Simulation(from, to, 4).run(parts));
}

}  // namespace
}  // namespace tilewright::layout
