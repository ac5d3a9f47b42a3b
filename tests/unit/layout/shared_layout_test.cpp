// Tiles in shared memory: every register layout can be written and read, and the pairs that matter
// for speed are free of bank conflicts.
#include "codegen/layout/shared_layout.h"

#include "codegen/layout/mma.h"
#include "simulate.h"

namespace tilewright::layout {
namespace {

using Kind = SharedAccess::Kind;

Conversion::Shared trip(const SharedLayout& shared, const LinearLayout& from,
                        const LinearLayout& to, const AccessOptions& options) {
  return {plan_access(shared, from, false, {}), plan_access(shared, to, true, options),
          shared.bytes(), 1};
}

Conversion as_conversion(const Conversion::Shared& shared, const LinearLayout& to) {
  Conversion plan;
  plan.kind = Conversion::Kind::kShared;
  plan.shared = shared;
  for (int r = 0; r < to.registers(); ++r) plan.source.push_back(r);
  return plan;
}

void expect_no_conflicts(const SharedAccess& access, int bytes, const std::string& what) {
  Wavefronts count = count_wavefronts(access, bytes);
  EXPECT_EQ(count.actual, count.ideal) << what;
}

// One operand of a dot: copied row by row with 16-byte vectors, read as fragments.
struct Operand {
  std::string name;
  Shape shape;
  bool is_a;
  std::vector<int> order;  // dimension that is contiguous in memory first
  MmaTiling tiling;
  Kind kind;
};

std::vector<Operand> operands() {
  std::vector<Operand> result;
  auto add = [&](std::string name, int64_t extent, int64_t k, int bits, MmaShape instruction,
                 bool is_a, bool k_major, int warps_m, int warps_n, Kind kind) {
    Shape shape = is_a ? Shape{extent, k} : Shape{k, extent};
    bool last_fastest = is_a == k_major;
    MmaTiling tiling{instruction, warps_m, warps_n, bits};
    tiling.interleaved_m = bits != 16 && !k_major;
    tiling.interleaved_n = bits == 8 && !k_major;
    result.push_back({name + " " + std::to_string(extent) + " k" + std::to_string(k) +
                          (is_a ? " A" : " B") + (k_major ? " K-major" : " other"),
                      shape, is_a, last_fastest ? std::vector<int>{1, 0} : std::vector<int>{0, 1},
                      tiling, kind});
  };
  for (bool is_a : {true, false})
    for (auto [wm, wn] : {std::pair{2, 2}, {4, 1}, {1, 4}, {2, 4}}) {
      for (int64_t k : {16, 32, 64, 128})
        for (int64_t extent : {64, 128, 256}) {
          add("f16", extent, k, 16, {16, 8, 16}, is_a, true, wm, wn, Kind::kLdmatrix);
          add("f16", extent, k, 16, {16, 8, 16}, is_a, false, wm, wn, Kind::kLdmatrixTrans);
          if (k >= 32) add("i8", extent, k, 8, {16, 8, 32}, is_a, true, wm, wn, Kind::kLdmatrix);
          if (k >= 32)
            add("i8", extent, k, 8, {16, 8, 32}, is_a, false, wm, wn, Kind::kLdmatrixTrans);
          add("tf32", extent, k, 32, {16, 8, 8}, is_a, true, wm, wn, Kind::kLdmatrix);
          add("tf32", extent, k, 32, {16, 8, 8}, is_a, false, wm, wn, Kind::kVector);
        }
    }
  return result;
}

TEST(SharedLayout, OperandsWithoutBankConflicts) {
  for (const Operand& operand : operands()) {
    int bytes = operand.tiling.element_bits / 8;
    int warps = operand.tiling.warps_m * operand.tiling.warps_n;
    LinearLayout copy = blocked(operand.shape, warps, operand.order, 16 / bytes);
    LinearLayout fragment = operand.is_a ? mma_operand_a(operand.shape, operand.tiling)
                                         : mma_operand_b(operand.shape, operand.tiling);
    AccessOptions options{.ldmatrix = true};
    SharedLayout shared =
        swizzled_for(row_major(operand.shape, bytes, operand.order), fragment, options);
    auto plan = trip(shared, copy, fragment, options);
    if (element_count(operand.shape) <= 64 * 64) {  // larger ones are more of the same
      EXPECT_TRUE(Simulation(copy, fragment, bytes).run(as_conversion(plan, fragment)))
          << operand.name;
    }
    EXPECT_EQ(plan.load.kind, operand.kind) << operand.name;
    EXPECT_EQ(plan.store.vector, 16 / bytes) << operand.name;
    if (operand.kind == Kind::kVector) {
      EXPECT_EQ(plan.load.vector, operand.is_a ? 2 : 1) << operand.name;
    }
    expect_no_conflicts(plan.load, bytes, operand.name + " load");
    expect_no_conflicts(plan.store, bytes, operand.name + " store");
  }
}

TEST(SharedLayout, FragmentLoadsStayWithinOneStepOfK) {
  MmaTiling tiling{{16, 8, 16}, 2, 2, 16};
  Shape shape = {64, 128};
  LinearLayout fragment = mma_operand_b(shape, tiling);
  // Registers: pair, k half, two bits of k tile, three of n tile.
  AccessOptions options{.ldmatrix = true, .apart = 0b1100};
  SharedLayout shared = swizzled_for(row_major(shape, 2, {0, 1}), fragment, options);
  SharedAccess load = plan_access(shared, fragment, true, options);
  EXPECT_EQ(load.matrices(2), 4);
  for (int k = 0; k < load.accesses(); ++k)
    for (int v = 0; v < load.vector; ++v)
      EXPECT_EQ(load.registers[static_cast<size_t>(k * load.vector + v)] & 0b1100,
                load.registers[static_cast<size_t>(k * load.vector)] & 0b1100);
}

// Any layout reads what any other wrote, on any map.
TEST(SharedLayout, AnyLayoutsMeet) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    int bytes = 1 << random() % 4, warps = 1 << random() % 3;
    Shape shape = {int64_t{16} << random() % 4, int64_t{16} << random() % 4};
    auto some = [&]() -> LinearLayout {
      std::vector<int> order = random() % 2 ? std::vector<int>{0, 1} : std::vector<int>{1, 0};
      int kind = static_cast<int>(random() % 4);
      if (kind == 0 && bytes < 8) {
        MmaTiling tiling{{16, 8, 32 / bytes > 16 ? 16 : 32 / bytes}, 1, warps, 8 * bytes};
        if (bytes == 1) tiling.instruction.k = 16;
        if (shape[1] >= tiling.instruction.k) return mma_operand_a(shape, tiling);
      }
      if (kind == 1) return mma_accumulator(shape, {{16, 8, 16}, warps, 1, 16});
      return blocked(shape, warps, order, 1 << random() % 4);
    };
    LinearLayout from = some(), to = some(), reader = some();
    AccessOptions options{.ldmatrix = random() % 2 == 0};
    std::vector<int> order = random() % 2 ? std::vector<int>{0, 1} : std::vector<int>{1, 0};
    SharedLayout shared = swizzled_for(row_major(shape, bytes, order), reader, options);
    auto plan = trip(shared, from, to, options);
    EXPECT_TRUE(Simulation(from, to, bytes).run(as_conversion(plan, to)))
        << to_string(from) << " to " << to_string(to);
  }
}

TEST(SharedLayout, PermuteAndReshapeKeepEveryElementInPlace) {
  Shape shape = {8, 32};
  SharedLayout shared = swizzled_for(row_major(shape, 2, {1, 0}), blocked(shape, 1, {0, 1}, 1), {});
  SharedLayout turned = permute(shared, {1, 0});
  EXPECT_EQ(turned.shape, (Shape{32, 8}));
  for (uint32_t i = 0; i < 8; ++i)
    for (uint32_t j = 0; j < 32; ++j) EXPECT_EQ(turned.at(j * 8 + i), shared.at(i * 32 + j));
  SharedLayout flat = reshape(shared, {256});
  EXPECT_EQ(flat.shape, (Shape{256}));
  EXPECT_EQ(flat.offset, shared.offset);
}

TEST(SharedLayout, ASmallTileTakesAWholeRowOfBanks) {
  EXPECT_EQ(row_major({4, 4}, 2, {1, 0}).bytes(), 128);
  EXPECT_EQ(row_major({128, 32}, 2, {1, 0}).bytes(), 8192);
}

}  // namespace
}  // namespace tilewright::layout
