// Block-scaled tensor-core products under the emulator: whose scales count, by the PTX ISA ("Block
// scaling for mma.sync"), and that selectors without meaning are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dsl/base/numeric.h"
#include "tests/unit/cuda/emulation.h"

namespace tilewright::cuda {
namespace {

struct ScaledCase {
  const char* name;
  int k, bits, count;  // of the product; of an element; scales of a row
  bool e4m3;           // scales
};
void PrintTo(const ScaledCase& c, std::ostream* out) {
  *out << c.name;
}
const ScaledCase kCases[] = {{"mxf8_m16n8k32_f8e4m3", 32, 8, 1, false},
                             {"mxf8_m16n8k32_f8e5m2", 32, 8, 1, false},
                             {"mxf8_m16n8k32_f8e4m3_f8e5m2", 32, 8, 1, false},
                             {"mxf8_m16n8k32_f8e5m2_f8e4m3", 32, 8, 1, false},
                             {"mxf4_m16n8k64", 64, 4, 2, false},
                             {"nvf4_m16n8k64", 64, 4, 4, true}};

struct Selectors {
  int byte_a, thread_a, byte_b, thread_b;
};

class MmaScaled : public testing::TestWithParam<ScaledCase> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MmaScaled, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// A and B are all ones: what comes out is the sum of products of scales.
Status run(const ScaledCase& c, const Selectors& s, const std::vector<uint32_t>& scale_a,
           const std::vector<uint32_t>& scale_b, std::vector<float>& d) {
  std::string name = c.name;
  auto one = [&](bool of_a) -> uint32_t {
    if (c.bits == 4) return 0x22222222;
    bool e5m2 = of_a ? name.find("k32_f8e5m2") != name.npos : name.ends_with("f8e5m2");
    return e5m2 ? 0x3c3c3c3c : 0x38383838;
  };
  Emulation e{.threads = 32, .sm = 120};
  std::string a = std::to_string(one(true)), b = std::to_string(one(false));
  return e.run("u64 pa, u64 pb, u64 pd",
               "u32 t = tw_thread_id(), x, y, a[4] = {" + a + "," + a + "," + a + "," + a +
                   "}, b[2] = {" + b + "," + b + "};\nf32 d[4] = {};\n" +
                   "tw_global_load<4, TW_PLAIN>(&x, pa + 4 * t);\n"
                   "tw_global_load<4, TW_PLAIN>(&y, pb + 4 * t);\n"
                   "tw_mma_" +
                   name + "<" + std::to_string(s.byte_a) + ", " + std::to_string(s.thread_a) +
                   ", " + std::to_string(s.byte_b) + ", " + std::to_string(s.thread_b) +
                   ">(d, a, b, x, y);\ntw_global_store<16, TW_PLAIN>(pd + 16 * t, (u32*)d);",
               scale_a.data(), scale_b.data(), d.data());
}

TEST_P(MmaScaled, TakesTheScalesThatSelectorsName) {
  const ScaledCase& c = GetParam();
  std::mt19937 random(3);
  auto bytes = [&] {
    std::vector<uint32_t> words(32);
    for (uint32_t& word : words)
      for (int i = 0; i < 4; ++i)
        word |= (c.e4m3 ? 0x30 + random() % 16 : 124 + random() % 8) << 8 * i;
    return words;
  };
  auto value = [&](uint32_t word, int byte) {
    uint32_t bits = word >> 8 * byte & 0xff;
    return c.e4m3 ? bits_to_float(bits, Dtype::kF8E4M3)
                  : std::ldexp(1.0, static_cast<int>(bits) - 127);
  };
  const std::vector<uint32_t> scale_a = bytes(), scale_b = bytes();
  for (int byte = 0; byte < 4; byte += c.count)
    for (int thread = 0; thread < 4; ++thread) {
      const Selectors s{byte, thread % 2, (4 - c.count) - byte, thread};
      std::vector<float> d(128);
      ASSERT_EQ(text_of(run(c, s, scale_a, scale_b, d)), "");
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) {
          int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
          double sum = 0;
          for (int run = 0; run < c.count; ++run)
            sum += c.k / c.count *
                   value(scale_a[static_cast<size_t>(row % 8 * 4 + 2 * s.thread_a + row / 8)],
                         s.byte_a + run) *
                   value(scale_b[static_cast<size_t>(column * 4 + s.thread_b)], s.byte_b + run);
          EXPECT_EQ(d[static_cast<size_t>(lane * 4 + i)], sum) << "lane " << lane;
        }
    }
}

TEST(MmaScaledChecks, SelectorsWithoutMeaningAreRefused) {
  std::vector<uint32_t> scales(32, 0x7f7f7f7f);
  std::vector<float> d(128);
  for (const Selectors& s : {Selectors{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, 4}}) {
    Status bad = run(kCases[4], s, scales, scales, d);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(text_of(bad).find("the scale selectors name bytes or threads that do not exist"),
              std::string::npos)
        << text_of(bad);
  }
}

}  // namespace
}  // namespace tilewright::cuda
