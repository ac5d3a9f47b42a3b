#include "codegen/target/target.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

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
  // One chip's name is as good as its family's.
  for (const char* name : {"sm_120", "120", "sm_120f", "sm_120a", "120a"}) {
    ASSERT_NE(find_target(name), nullptr) << name;
    EXPECT_EQ(find_target(name)->nvrtc, "sm_120f");
  }
}

TEST(Target, UnknownNamesAreNull) {
  for (const char* name : {"", "sm_", "sm_70", "sm_80a", "sm_90b", "sm_90f", "sm_120b", "sm_90aa",
                           "sm_8x", "gfx90a", "sm_-80", "9", "sm_99999999999999"})
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
    EXPECT_EQ(target.has_fp8_mma, target.sm == 89 || target.sm == 120);
    EXPECT_EQ(target.has_int4_mma, target.sm >= 80 && target.sm < 90);
    EXPECT_EQ(target.has_tma, target.sm >= 90);
    EXPECT_EQ(target.has_wgmma, target.nvrtc == "sm_90a");
  }
}

TEST(Target, CardsAreFoundUnderEverySpelling) {
  for (const char* name : {"RTX 4090", "rtx4090", "rtx-4090", "NVIDIA GeForce RTX 4090"}) {
    const Card* card = find_card(name);
    ASSERT_NE(card, nullptr) << name;
    EXPECT_EQ(card->name, "RTX 4090");
  }
  for (const char* name : {"", "RTX", "RTX 409", "RTX 4090 Ti", "sm_89"})
    EXPECT_EQ(find_card(name), nullptr) << name;
}

TEST(Target, EveryTargetHasAReferenceCard) {
  std::map<std::string_view, std::string_view> expected = {
      {"sm_75", "RTX 2080 Ti"}, {"sm_80", "A100"},  {"sm_86", "RTX 3090"}, {"sm_89", "RTX 4090"},
      {"sm_90", "H100"},        {"sm_100", "B200"}, {"sm_120", "RTX 5090"}};
  for (const Target& target : all_targets())
    EXPECT_EQ(reference_card(target).name, expected[target.name]);
}

// Peaks that the vendor prints, in TFLOP/s, against SMs x clock x rate.
TEST(Target, RatesGiveThePrintedPeaks) {
  struct Peak {
    const char* card;
    int Rates::*rate;
    double tflops;
  };
  for (const Peak& peak : {Peak{"RTX 2080 Ti", &Rates::f16_f32, 53.8},
                           {"RTX 2080 Ti", &Rates::i8, 215.2},
                           {"T4", &Rates::f16_f32, 65},
                           {"A100", &Rates::f16_f32, 312},
                           {"A100", &Rates::tf32, 156},
                           {"A100", &Rates::i8, 624},
                           {"A100", &Rates::f64, 19.5},
                           {"RTX 3090", &Rates::f16_f32, 71},
                           {"RTX 3090", &Rates::f16_f16, 142},
                           {"RTX 3090", &Rates::fma_f32, 35.6},
                           {"RTX A6000", &Rates::f16_f32, 154.8},
                           {"RTX 4090", &Rates::f16_f32, 165.2},
                           {"RTX 4090", &Rates::f16_f16, 330.3},
                           {"RTX 4090", &Rates::f8_f32, 330.3},
                           {"RTX 4090", &Rates::f8_f16, 660.6},
                           {"RTX 4090", &Rates::i8, 660.6},
                           {"RTX 4090", &Rates::tf32, 82.6},
                           {"RTX 4090", &Rates::fma_f32, 82.6},
                           {"RTX 6000 Ada", &Rates::f16_f32, 364.2},
                           {"H100", &Rates::f16_f32, 989.4},
                           {"H200", &Rates::f8_f32, 1979},
                           {"RTX 5090", &Rates::f16_f32, 209.5},
                           {"RTX PRO 6000 Blackwell", &Rates::f16_f32, 503.8}}) {
    const Card* card = find_card(peak.card);
    ASSERT_NE(card, nullptr) << peak.card;
    double tflops = 1e-6 * card->sms * card->boost_mhz * card->rates.*peak.rate;
    EXPECT_NEAR(tflops / peak.tflops, 1.0, 0.01) << peak.card << " " << peak.tflops;
  }
}

TEST(Target, CardsAreConsistent) {
  std::set<std::string_view> names;
  for (const Card& card : all_cards()) {
    SCOPED_TRACE(card.name);
    EXPECT_TRUE(names.insert(card.name).second);
    EXPECT_EQ(find_card(card.name), &card);
    const Target* target = find_target(card.target);
    ASSERT_NE(target, nullptr);
    EXPECT_EQ(target->name, card.target);
    const Rates& rates = card.rates;
    EXPECT_EQ(rates.tf32 > 0, target->has_bf16_mma);
    // (sm_90 and sm_100 multiply FP8, but not by mma.sync.)
    EXPECT_TRUE(rates.f8_f32 > 0 || !target->has_fp8_mma);
    EXPECT_GE(rates.f16_f16, rates.f16_f32);
    EXPECT_GE(rates.f16_f32, 2 * rates.fma_f32);
    EXPECT_GT(card.sms, 0);
    EXPECT_GT(card.boost_mhz, 1000);
    EXPECT_LT(card.boost_mhz, 3000);
    EXPECT_GT(card.dram_gbps, 100);
    EXPECT_GE(card.l2_mib, 4);
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
