#include "codegen/target/target.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Target, IsFoundUnderEverySpelling) {
  for (const char* name : {"sm_90", "sm_90a", "90", "90a"}) {
    const Target* target = find_target(name);
    ASSERT_NE(target, nullptr) << name;
    EXPECT_EQ(target->name, "sm_90");
    EXPECT_EQ(target->nvrtc, "sm_90a");
  }
  ASSERT_NE(find_target("sm_75"), nullptr);
  EXPECT_EQ(find_target("120")->sm, 120);
}

TEST(Target, UnknownNamesAreNull) {
  for (const char* name : {"", "sm_", "sm_70", "sm_80a", "sm_90b", "sm_90aa", "sm_8x", "gfx90a",
                           "sm_-80", "9", "sm_99999999999999"})
    EXPECT_EQ(find_target(name), nullptr) << name;
}

TEST(Target, RowsAreConsistent) {
  int last = 0;
  for (const Target& target : all_targets()) {
    SCOPED_TRACE(target.name);
    EXPECT_GT(target.sm, last) << "rows are in ascending order";
    last = target.sm;
    EXPECT_EQ(target.name, "sm_" + std::to_string(target.sm));
    EXPECT_TRUE(target.nvrtc.starts_with(target.name));
    EXPECT_EQ(find_target(target.name), &target);
    EXPECT_EQ(find_target(target.nvrtc), &target);
    // A block of the largest size leaves the system its part, and nothing more.
    EXPECT_EQ(target.shared_per_block + target.reserved_shared_per_block, target.shared_per_sm);
    EXPECT_EQ(target.shared_per_block % target.shared_unit, 0);
    EXPECT_EQ(target.max_threads_per_sm % 512, 0);
    EXPECT_EQ(target.has_cp_async, target.sm >= 80);
    EXPECT_EQ(target.has_bf16_mma, target.sm >= 80);
    EXPECT_EQ(target.has_fp8_mma, target.sm >= 89);
    EXPECT_EQ(target.has_tma, target.sm >= 90);
    EXPECT_EQ(target.has_wgmma, target.nvrtc == "sm_90a");
  }
}

TEST(Target, DeviceGetsTheNewestBinaryItRuns) {
  auto name = [](int major, int minor) {
    const Target* target = target_for_device(major, minor);
    return target ? std::string(target->name) : "none";
  };
  EXPECT_EQ(name(7, 5), "sm_75");
  EXPECT_EQ(name(8, 0), "sm_80");
  EXPECT_EQ(name(8, 6), "sm_86");
  EXPECT_EQ(name(8, 9), "sm_89");
  EXPECT_EQ(name(9, 0), "sm_90");
  EXPECT_EQ(name(10, 0), "sm_100");
  EXPECT_EQ(name(10, 3), "sm_100");
  EXPECT_EQ(name(12, 0), "sm_120");
  EXPECT_EQ(name(12, 1), "sm_120");
  // Older than all, Tegra, unknown families.
  EXPECT_EQ(name(7, 0), "none");
  EXPECT_EQ(name(7, 2), "none");
  EXPECT_EQ(name(8, 7), "none");
  EXPECT_EQ(name(11, 0), "none");
  EXPECT_EQ(name(13, 0), "none");
}

}  // namespace
}  // namespace tilewright
