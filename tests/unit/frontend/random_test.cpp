// Random numbers against an independent Philox 4x32-10 (and 4x64-10) and the published vectors.
#include <cmath>

#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

using Block = std::array<uint32_t, 4>;

// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
Block philox(Block counter, std::array<uint32_t, 2> key, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

float uniform(uint32_t word) {
  auto x = static_cast<int32_t>(word);
  return static_cast<float>(x < 0 ? -x - 1 : x) * 4.6566127342e-10f;
}

Block reference(uint64_t seed, uint64_t offset, int rounds = 10) {
  return philox({static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, rounds);
}

TEST(Random, ReferenceMatchesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}, 10),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, 10),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

const char* kText = R"(
@triton.jit
def kernel(words, floats, normals, seed, start):
    i = tl.arange(0, 8)
    a, b, c, d = tl.randint4x(seed, start + i)
    tl.store(words + i * 4, a)
    tl.store(words + i * 4 + 1, b)
    tl.store(words + i * 4 + 2, c)
    tl.store(words + i * 4 + 3, d)
    tl.store(floats + i, tl.rand(seed, start + i))
    tl.store(normals + i, tl.randn(seed, start + i))
)";

void check_generator(const char* seed_type, const char* start_type, uint64_t seed, uint64_t start) {
  std::vector<uint32_t> words(32);
  std::vector<float> floats(8), normals(8);
  run_lowered({.text = kText,
               .signature = {"words=*u32", "floats=*f32", "normals=*f32",
                             std::string("seed=") + seed_type, std::string("start=") + start_type},
               .arguments = {address(words.data()), address(floats.data()), address(normals.data()),
                             seed, start}});
  // A 32-bit seed is extended by its sign, as a shift by 32 of Triton's does on hardware.
  if (std::string(seed_type) == "i32")
    seed = static_cast<uint64_t>(int64_t{static_cast<int32_t>(seed)});
  bool wide = std::string(start_type) == "i64";
  for (uint64_t i = 0; i < 8; ++i) {
    uint64_t offset = start + i;
    if (!wide) offset &= 0xffffffff;
    Block expected = reference(seed, offset);
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(words[i * 4 + k], expected[k]) << i << " " << k;
    EXPECT_EQ(floats[i], uniform(expected[0])) << i;
    double u1 = std::max(1.0e-7f, uniform(expected[0])), u2 = uniform(expected[1]);
    double normal = std::sqrt(-2 * std::log(u1)) * std::cos(6.283185307179586 * u2);
    EXPECT_NEAR(normals[i], normal, 1e-5 * std::max(1.0, std::fabs(normal))) << i;
  }
}

TEST(Random, SeedsAndOffsetsOfEveryWidth) {
  check_generator("i32", "i32", 0, 0);
  check_generator("i32", "i32", 42, 1000);
  check_generator("i32", "i32", 0xfffffff0, 0xfffffff8);
  check_generator("i64", "i32", 0x123456789abcdef0, 5);
  check_generator("i64", "i64", 7, 0x1fffffffc);
}

TEST(Random, FewerRoundsAndConstants) {
  const char* text = R"(
@triton.jit
def kernel(o):
    tl.store(o, tl.randint(3, 4, n_rounds=6))
    tl.store(o + 1, tl.randint(3, tl.program_id(0) + 5, 7))
)";
  std::vector<uint32_t> o(2);
  run_lowered({.text = text, .signature = {"o=*u32"}, .arguments = {address(o.data())}});
  EXPECT_EQ(o[0], reference(3, 4, 6)[0]);
  EXPECT_EQ(o[1], reference(3, 5, 7)[0]);
}

TEST(Random, Philox4x64) {
  const char* text = R"(
@triton.jit
def kernel(o, seed, c):
    zero = c * 0
    a, b, x, y = tl.philox(seed, c, zero, zero, zero)
    tl.store(o, a)
    tl.store(o + 1, b)
    tl.store(o + 2, x)
    tl.store(o + 3, y)
)";
  std::vector<uint64_t> o(4);
  run_lowered({.text = text,
               .signature = {"o=*u64", "seed=i64", "c=u64"},
               .arguments = {address(o.data()), 0, 0}});
  // Published vector of philox4x64-10 for a zero counter and key.
  EXPECT_EQ(o, (std::vector<uint64_t>{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                      0x7e68b68aec7ba23b}));
}

}  // namespace
}  // namespace tilewright::frontend
