// Layout constructors and shape movers, against the tile they describe.
#include "codegen/layout/linear_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "codegen/layout/f2.h"
#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

std::vector<int64_t> coordinates(const Shape& shape, uint32_t index) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = index % shape[i];
    index /= static_cast<uint32_t>(shape[i]);
  }
  return at;
}
uint32_t flat(const Shape& shape, const std::vector<int64_t>& at) {
  uint32_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    index = index * static_cast<uint32_t>(shape[i]) + static_cast<uint32_t>(at[i]);
  return index;
}
template <class Visit>
void each_holder(const LinearLayout& layout, Visit visit) {
  for (int w = 0; w < layout.warps(); ++w)
    for (int l = 0; l < 32; ++l)
      for (int r = 0; r < layout.registers(); ++r) visit(r, l, w);
}

// The layouts that the tests move around.
std::vector<LinearLayout> samples() {
  std::vector<LinearLayout> result;
  for (int warps : {1, 4})
    for (const Shape& shape : {Shape{64, 32}, Shape{2, 4}, Shape{1, 128}, Shape{16, 1}})
      for (const std::vector<int>& order : {std::vector<int>{1, 0}, std::vector<int>{0, 1}})
        result.push_back(blocked(shape, warps, order, 4));
  return result;
}

TEST(F2, SolveInverseKernelIntersection) {
  f2::Matrix m = {0b011, 0b110, 0b111};
  auto inverse = f2::inverse(m);
  ASSERT_TRUE(inverse);
  EXPECT_EQ(f2::multiply(m, *inverse), (f2::Matrix{1, 2, 4}));
  EXPECT_FALSE(f2::inverse({0b011, 0b110, 0b101}));
  EXPECT_EQ(f2::rank({0b011, 0b110, 0b101}), 2);
  EXPECT_EQ(f2::kernel({0b011, 0b110, 0b101}), (f2::Matrix{0b111}));
  EXPECT_EQ(f2::intersection({1, 2}, {2, 4}), (f2::Matrix{2}));
  EXPECT_EQ(f2::intersection({1, 2}, {3, 4}), (f2::Matrix{3}));
  f2::Solver solver({1, 0, 3, 2});
  EXPECT_EQ(solver.solve(2), 0b101u);  // the earliest independent columns
  EXPECT_FALSE(solver.solve(4));
}

TEST(LinearLayout, BlockedIsCoalesced) {
  LinearLayout layout = blocked({64, 32}, 4, {1, 0}, 4);
  EXPECT_EQ(to_string(layout),
            "reg=[1,2,512,1024] lane=[4,8,16,32,64] warp=[128,256] shape=[64,32]");
  EXPECT_EQ(blocked({64, 32}, 4, {0, 1}, 2).reg[0], 32u);
  // Too small for the warps: copies in the warps, never in registers.
  layout = blocked({64}, 4, {0}, 4);
  EXPECT_EQ(to_string(layout), "reg=[1,2] lane=[4,8,16,32,0] warp=[0,0] shape=[64]");
  // The vector is cut to the extent.
  EXPECT_EQ(blocked({64, 2}, 1, {1, 0}, 8).reg, (std::vector<uint32_t>{1, 64}));
}

TEST(LinearLayout, EveryElementIsHeld) {
  for (const LinearLayout& layout : samples()) {
    EXPECT_TRUE(covers(layout));
    std::set<uint32_t> held;
    each_holder(layout, [&](int r, int l, int w) { held.insert(layout.element(r, l, w)); });
    EXPECT_EQ(static_cast<int64_t>(held.size()), element_count(layout.shape));
    EXPECT_EQ(*held.rbegin() + 1, held.size());
  }
  LinearLayout hole = blocked({64}, 1, {0}, 1);
  hole.lane[2] = 0;
  EXPECT_FALSE(covers(hole));
}

TEST(LinearLayout, ReplicationMaskLeavesOneHolder) {
  auto all = samples();
  LinearLayout mixed = blocked({64}, 4, {0}, 4);
  mixed.warp[0] = 4 ^ 8;  // a copy that is not a zero basis
  all.push_back(mixed);
  all.push_back(replicated({1, 1}, 4));
  for (const LinearLayout& layout : all) {
    ReplicationMask mask = replication_mask(layout);
    std::map<uint32_t, int> holders;
    each_holder(layout, [&](int r, int l, int w) {
      if (!(r & mask.reg) && !(l & mask.lane) && !(w & mask.warp))
        ++holders[layout.element(r, l, w)];
    });
    EXPECT_EQ(static_cast<int64_t>(holders.size()), element_count(layout.shape));
    for (auto [element, count] : holders) EXPECT_EQ(count, 1) << element;
  }
}

TEST(LinearLayout, PermuteMovesCoordinates) {
  Shape shape = {4, 8, 16};
  std::vector<int> order = {2, 0, 1};
  LinearLayout layout = blocked(shape, 2, {0, 2, 1}, 2), moved = permute(layout, order);
  EXPECT_EQ(moved.shape, (Shape{16, 4, 8}));
  EXPECT_EQ(unpermute(moved, order), layout);
  each_holder(layout, [&](int r, int l, int w) {
    auto at = coordinates(shape, layout.element(r, l, w));
    EXPECT_EQ(moved.element(r, l, w), flat(moved.shape, {at[2], at[0], at[1]}));
  });
}

TEST(LinearLayout, ExpandReshapeSqueezeKeepElements) {
  LinearLayout layout = blocked({8, 16}, 1, {1, 0}, 2);
  EXPECT_EQ(expand_dims(layout, 1).shape, (Shape{8, 1, 16}));
  EXPECT_EQ(squeeze(expand_dims(layout, 1), 1), layout);
  EXPECT_EQ(reshape(layout, {128}).reg, layout.reg);
  EXPECT_THROW(reshape(layout, {64}), InternalError);
  EXPECT_THROW(squeeze(layout, 0), InternalError);
}

TEST(LinearLayout, DropDimProjects) {
  for (const LinearLayout& layout : samples())
    for (int axis : {0, 1}) {
      LinearLayout result = drop_dim(layout, axis);
      EXPECT_TRUE(covers(result));
      EXPECT_EQ(replication_mask(result).reg, 0u);
      EXPECT_EQ(result.lane.size(), 5u);
      EXPECT_EQ(result.warp.size(), layout.warp.size());
    }
}

// A broadcast operand in broadcast_source holds, in the register named, each result register's
// value.
TEST(LinearLayout, BroadcastIsRenaming) {
  for (const LinearLayout& layout : samples())
    for (int axis : {0, 1}) {
      Shape from = layout.shape;
      from[axis] = 1;
      LinearLayout source = broadcast_source(layout, from);
      std::vector<int> registers = broadcast_registers(layout, from);
      EXPECT_TRUE(covers(source));
      each_holder(layout, [&](int r, int l, int w) {
        auto at = coordinates(layout.shape, layout.element(r, l, w));
        at[axis] = 0;
        EXPECT_EQ(source.element(registers[r], l, w), flat(from, at));
      });
    }
}

TEST(LinearLayout, JoinAndCat) {
  LinearLayout layout = blocked({4, 16}, 2, {1, 0}, 1), joined = join(layout);
  EXPECT_EQ(joined.shape, (Shape{4, 16, 2}));
  EXPECT_EQ(unjoin(joined), layout);
  each_holder(layout, [&](int r, int l, int w) {
    auto at = coordinates(layout.shape, layout.element(r, l, w));
    for (int which : {0, 1})
      EXPECT_EQ(joined.element(2 * r + which, l, w), flat(joined.shape, {at[0], at[1], which}));
  });
  for (int axis : {0, 1}) {
    LinearLayout both = cat(layout, axis);
    EXPECT_TRUE(covers(both));
    EXPECT_EQ(uncat(both, axis), layout);
    each_holder(layout, [&](int r, int l, int w) {
      auto at = coordinates(layout.shape, layout.element(r, l, w));
      EXPECT_EQ(both.element(r, l, w), flat(both.shape, at));
      at[axis] += layout.shape[axis];
      EXPECT_EQ(both.element(r + layout.registers(), l, w), flat(both.shape, at));
    });
  }
}

// Folding registers, then lanes, then warps as planned brings every element into its result once.
TEST(LinearLayout, ReductionPlanFoldsEverything) {
  for (const LinearLayout& layout : samples())
    for (int axis : {0, 1}) {
      LinearLayout result = drop_dim(layout, axis);
      ReductionPlan plan = plan_reduction(layout, axis);
      ASSERT_EQ(static_cast<int>(plan.registers.size()), result.registers());
      each_holder(result, [&](int r, int l, int w) {
        std::multiset<uint32_t> folded;
        for (uint32_t lanes = 0; lanes < 1u << plan.lane_bits.size(); ++lanes)
          for (uint32_t warps = 0; warps < 1u << plan.warp_bits.size(); ++warps) {
            int lane = l, warp = w;
            for (size_t i = 0; i < plan.lane_bits.size(); ++i)
              lane ^= (lanes >> i & 1) << plan.lane_bits[i];
            for (size_t i = 0; i < plan.warp_bits.size(); ++i)
              warp ^= (warps >> i & 1) << plan.warp_bits[i];
            for (int source : plan.registers[r]) folded.insert(layout.element(source, lane, warp));
          }
        EXPECT_EQ(static_cast<int64_t>(folded.size()), layout.shape[axis]);
        for (uint32_t e : folded) {
          EXPECT_EQ(folded.count(e), 1u);
          auto at = coordinates(layout.shape, e);
          at.erase(at.begin() + axis);
          EXPECT_EQ(flat(result.shape, at), result.element(r, l, w));
        }
      });
    }
  LinearLayout diagonal = blocked({8, 8}, 1, {1, 0}, 1);
  diagonal.lane[0] = 1 ^ 8;
  EXPECT_THROW(plan_reduction(diagonal, 0), InternalError);
}

}  // namespace
}  // namespace tilewright::layout
