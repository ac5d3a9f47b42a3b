// Sparse tensor-core products under the emulator, by the storage and fragments of the PTX ISA, and
// their acceptance by NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codegen/cuda/nvrtc_loader.h"
#include "dsl/base/numeric.h"
#include "tests/unit/cuda/emulation.h"

namespace tilewright::cuda {
namespace {

struct SparseCase {
  const char* name;
  int k, bits;  // of the product; of an element
  Dtype a, b;
  int threads;  // of four, that hold the metadata
  int sm = 80;
  int chunk() const { return bits == 32 ? 2 : 4; }
};
void PrintTo(const SparseCase& c, std::ostream* out) {
  *out << c.name;
}

const SparseCase kCases[] = {
    {"m16n8k16_f16", 16, 16, Dtype::kF16, Dtype::kF16, 1},
    {"m16n8k32_f16", 32, 16, Dtype::kF16, Dtype::kF16, 2},
    {"m16n8k16_bf16", 16, 16, Dtype::kBF16, Dtype::kBF16, 1},
    {"m16n8k32_bf16", 32, 16, Dtype::kBF16, Dtype::kBF16, 2},
    {"m16n8k8_tf32", 8, 32, Dtype::kF32, Dtype::kF32, 1},
    {"m16n8k16_tf32", 16, 32, Dtype::kF32, Dtype::kF32, 2},
    {"m16n8k32_i8", 32, 8, Dtype::kI8, Dtype::kI8, 2},
    {"m16n8k64_i8", 64, 8, Dtype::kI8, Dtype::kI8, 4},
    {"m16n8k32_u8_i8", 32, 8, Dtype::kU8, Dtype::kI8, 2},
    {"m16n8k64_i8_u8", 64, 8, Dtype::kI8, Dtype::kU8, 4},
    {"m16n8k64_u8", 64, 8, Dtype::kU8, Dtype::kU8, 4},
    {"m16n8k64_f8e4m3", 64, 8, Dtype::kF8E4M3, Dtype::kF8E4M3, 4, 89},
    {"m16n8k64_f8e5m2", 64, 8, Dtype::kF8E5M2, Dtype::kF8E5M2, 4, 89},
    {"m16n8k64_f8e4m3_f8e5m2", 64, 8, Dtype::kF8E4M3, Dtype::kF8E5M2, 4, 89},
    {"m16n8k64_f8e5m2_f8e4m3", 64, 8, Dtype::kF8E5M2, Dtype::kF8E4M3, 4, 89},
};

class MmaSparse : public testing::TestWithParam<SparseCase> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MmaSparse, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

uint64_t encode(double value, Dtype dtype) {
  return is_int(dtype) ? int_to_bits(static_cast<int64_t>(value), dtype)
                       : float_to_bits(value, dtype);
}

// One product with random places of the nonzeros, as the full matrix and as registers.
struct Product {
  Product(const SparseCase& c, int selector) {
    std::mt19937 random(7);
    auto small = [&](Dtype dtype) {
      return static_cast<double>(1 + random() % 3) * (is_unsigned(dtype) || random() % 2 ? 1 : -1);
    };
    const int per_word = 32 / c.bits, chunks = c.k / c.chunk();
    for (auto& row : b)
      for (double& x : row) x = small(c.b);
    for (int row = 0; row < 16; ++row)
      for (int chunk = 0; chunk < chunks; ++chunk) {
        int low = static_cast<int>(random() % 3), high = low + 1;
        high += static_cast<int>(random() % static_cast<unsigned>(4 - high));
        if (c.bits == 32) low = random() % 2 ? 2 : 0, high = low + 1;
        const int places[] = {low, high};
        for (int i = 0; i < c.chunk() / 2; ++i) {
          double value = small(c.a);
          int column = chunk * c.chunk() + (c.bits == 32 ? low / 2 : places[i]);
          a[row][column] = value;
          put_a(c, row, chunk * c.chunk() / 2 + i, value);
        }
        uint32_t nibble = static_cast<uint32_t>(low | high << 2);
        // Figures of the ISA: 16-bit and TF32 elements, then bytes.
        int thread = c.bits > 8 ? chunk / 4 : chunk / 8 * 2 + (row < 8 ? 0 : 1);
        int bit = c.bits > 8 ? (row < 8 ? 0 : 16) + chunk % 4 * 4 : chunk % 8 * 4;
        metadata[row % 8 * 4 + selector * c.threads + thread] |= nibble << bit;
      }
    for (int k = 0; k < c.k; ++k)
      for (int column = 0; column < 8; ++column) {
        int lane = column * 4 + k / per_word % 4;
        words(fb, lane, k / (4 * per_word), k % per_word * c.bits, encode(b[k][column], c.b));
      }
  }
  // Stored columns lie as the columns of a dense fragment of half the depth.
  void put_a(const SparseCase& c, int row, int column, double value) {
    const int per_word = 32 / c.bits;
    int lane = row % 8 * 4 + column / per_word % 4;
    words(fa, lane, column / (4 * per_word) * 2 + row / 8, column % per_word * c.bits,
          encode(value, c.a));
  }
  static void words(std::vector<uint32_t>& to, int lane, int word, int shift, uint64_t bits) {
    to[lane * 4 + word] |= static_cast<uint32_t>(bits << shift);
  }

  double a[16][64] = {}, b[64][8] = {};
  std::vector<uint32_t> fa = std::vector<uint32_t>(128), fb = std::vector<uint32_t>(128);
  std::vector<uint32_t> metadata = std::vector<uint32_t>(32, 0);
};

Status run(const SparseCase& c, int selector, const Product& p, std::vector<uint32_t>& d) {
  Emulation e{.threads = 32, .sm = c.sm};
  std::string type = is_int(c.a) ? "i32" : "f32";
  return e.run("u64 pa, u64 pb, u64 pm, u64 pd",
               "u32 t = tw_thread_id(), a[4], b[4], m;\n" + type +
                   " d[4] = {1, 2, 3, 4};\n"
                   "tw_global_load<16, TW_PLAIN>(a, pa + 16 * t);\n"
                   "tw_global_load<16, TW_PLAIN>(b, pb + 16 * t);\n"
                   "tw_global_load<4, TW_PLAIN>(&m, pm + 4 * t);\n"
                   "tw_mma_sp_" +
                   c.name + "<" + std::to_string(selector) + ">(d, a, b, m);\n" +
                   "tw_global_store<16, TW_PLAIN>(pd + 16 * t, (u32*)d);",
               p.fa.data(), p.fb.data(), p.metadata.data(), d.data());
}

TEST_P(MmaSparse, MultipliesByThePtxFragments) {
  const SparseCase& c = GetParam();
  for (int selector = 0; selector < 4 / c.threads; ++selector) {
    SCOPED_TRACE(selector);
    Product p(c, selector);
    std::vector<uint32_t> d(128);
    ASSERT_EQ(text_of(run(c, selector, p, d)), "");
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
        double expected = i + 1;
        for (int k = 0; k < c.k; ++k) expected += p.a[row][k] * p.b[k][column];
        uint32_t bits = d[lane * 4 + i];
        double found = is_int(c.a) ? static_cast<int32_t>(bits) : std::bit_cast<float>(bits);
        EXPECT_EQ(found, expected) << "lane " << lane << " element " << i;
      }
  }
}

TEST(MmaSparseChecks, MetadataAndSelectorsAreChecked) {
  const SparseCase& c = kCases[1];
  std::vector<uint32_t> d(128);
  Product p(c, 0);
  Status none = run(c, 2, p, d);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, DiagKind::kBadIntrinsic);
  EXPECT_NE(text_of(none).find("the sparsity selector 2 names threads that do not exist"),
            std::string::npos)
      << text_of(none);
  // Lane 5, the second thread of row 1: its low bits are row 1, columns 16 to 19.
  for (uint32_t nibble : {0b0000u, 0b0001u, 0b1010u}) {
    p.metadata[5] = (p.metadata[5] & ~15u) | nibble;
    Status bad = run(c, 0, p, d);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(text_of(bad).find("of row 1, chunk 4 is not one of those defined"), std::string::npos)
        << text_of(bad);
  }
}

TEST_P(MmaSparse, CompilesWhereTheTargetHasIt) {
  if (!nvrtc_info().ok()) GTEST_SKIP() << "no NVRTC";
  const SparseCase& c = GetParam();
  const Target* target = find_target("sm_" + std::to_string(c.sm));
  ASSERT_NE(target, nullptr);
  Source source;
  source.entry = "k";
  source.threads = 32;
  source.text =
      std::string("TW_KERNEL(32) void k(u64 p) { u32 a[4], b[4]; ") +
      (is_int(c.a) ? "i32" : "f32") +
      " d[4] = {}; tw_global_load<16, TW_PLAIN>(a, p); tw_global_load<16, TW_PLAIN>(b, p + 16);"
      "tw_mma_sp_" +
      c.name +
      "<0>(d, a, b, a[0]); tw_global_store_if<16, TW_PLAIN>(p, "
      "(u32*)d, true); }\n";
  Result<Binary> binary = compile(source, *target);
  ASSERT_TRUE(binary.ok()) << binary.error().text();
}

}  // namespace
}  // namespace tilewright::cuda
