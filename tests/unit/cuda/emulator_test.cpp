// The emulator runs what it should: threads, shared memory, collectives, tensor cores, atomics.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "dsl/base/numeric.h"
#include "tests/unit/cuda/emulation.h"

namespace tilewright::cuda {
namespace {

TEST(Emulator, ThreadsBlocksAndGrid) {
  std::vector<int> out(4 * 3 * 2 * 64, -1);
  Emulation e{.threads = 64, .grid = {4, 3, 2}};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    i32 block = (tw_block_id(2) * tw_grid_dim(1) + tw_block_id(1)) * tw_grid_dim(0) + tw_block_id(0);
    u32 at = block * 64 + tw_thread_id();
    tw_global_store<4, TW_PLAIN>(p + 4 * at, &at);)",
                          out.data())),
            "");
  for (int i = 0; i < static_cast<int>(out.size()); ++i) EXPECT_EQ(out[i], i);
}

TEST(Emulator, ArgumentsOfEveryWidth) {
  std::vector<double> out(6);
  Emulation e{.threads = 32};
  ASSERT_EQ(text_of(e.run("u64 p, i32 a, i64 b, f32 c, f64 d, u8 f, f16 h", R"(
    f64 v[6] = {(f64)a, (f64)b, (f64)c, d, (f64)f, (f64)tw_f32(h)};
    if (tw_thread_id() == 0)
      for (int i = 0; i < 6; ++i) tw_global_store<8, TW_PLAIN>(p + 8 * i, (const u32*)&v[i]);)",
                          out.data(), int32_t{-7}, int64_t{-1} << 40, 2.5f, 1e300, uint8_t{200},
                          uint16_t{0x3c00})),
            "");
  EXPECT_EQ(out, (std::vector<double>{-7, -1099511627776.0, 2.5, 1e300, 200, 1}));
}

TEST(Emulator, SharedMemoryBetweenBarriers) {
  std::vector<uint32_t> out(128);
  Emulation e{.threads = 128, .shared_bytes = 1024};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id();
    tw_shared_store_b32(4 * t, t * t);
    tw_barrier();
    u32 w;
    tw_shared_load_b32(w, 4 * (127 - t));
    tw_barrier();
    u32 pair[2] = {w, w + 1};
    tw_shared_store_b64(8 * t, pair);
    tw_barrier();
    u32 quad[4];
    tw_shared_load_b128(quad, 16 * (t / 2));
    u32 r = quad[1] - quad[0] + quad[3] - quad[2] + quad[t % 2 * 2];
    tw_global_store<4, TW_PLAIN>(p + 4 * t, &r);)",
                          out.data())),
            "");
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(out[t], 2 + (127 - t) * (127 - t));
}

TEST(Emulator, NarrowSharedAccesses) {
  std::vector<uint32_t> out(32);
  Emulation e{.threads = 32, .shared_bytes = 128};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id(), a, b;
    tw_shared_store_b8(t, 0x1234500 + t);
    tw_shared_store_b16(64 + 2 * t, 0xabc0000 + 300 * t);
    tw_barrier();
    tw_shared_load_b8(a, 31 - t);
    tw_shared_load_b16(b, 64 + 2 * (31 - t));
    u32 r = a << 16 | b;
    tw_global_store<4, TW_PLAIN>(p + 4 * t, &r);)",
                          out.data())),
            "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], (31 - t) << 16 | 300 * (31 - t));
}

TEST(Emulator, Shuffles) {
  std::vector<uint32_t> out(128);
  Emulation e{.threads = 64};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id();
    u32 a = tw_shfl_b32(100 + t, (t + 5) % 32), b = tw_shfl_xor_b32(200 + t, 9);
    tw_global_store<4, TW_PLAIN>(p + 8 * t, &a);
    tw_global_store<4, TW_PLAIN>(p + 8 * t + 4, &b);)",
                          out.data())),
            "");
  for (uint32_t t = 0; t < 64; ++t) {
    EXPECT_EQ(out[2 * t], 100 + t / 32 * 32 + (t + 5) % 32);
    EXPECT_EQ(out[2 * t + 1], 200 + (t ^ 9));
  }
}

// Element (row, column) of matrix j is 100 * j + 8 * row + column.
TEST(Emulator, MatrixLoads) {
  std::vector<uint16_t> out(2 * 32 * 4 * 2);
  Emulation e{.threads = 32, .shared_bytes = 512};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id(), d[4];
    for (u32 c = 0; c < 8; ++c) tw_shared_store_b16(16 * t + 2 * c, 100 * (t / 8) + 8 * (t % 8) + c);
    tw_barrier();
    tw_ldmatrix<4>(d, 16 * t);
    tw_global_store<16, TW_PLAIN>(p + 16 * t, d);
    tw_ldmatrix_trans<4>(d, 16 * t);
    tw_global_store<16, TW_PLAIN>(p + 512 + 16 * t, d);)",
                          out.data())),
            "");
  for (int lane = 0; lane < 32; ++lane)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
        // PTX ISA, ldmatrix: a thread receives a row's pair, or with .trans a column's.
        int row = lane / 4, column = lane % 4 * 2 + half;
        EXPECT_EQ(out[lane * 8 + j * 2 + half], 100 * j + 8 * row + column);
        EXPECT_EQ(out[256 + lane * 8 + j * 2 + half], 100 * j + 8 * column + row);
      }
}

TEST(Emulator, MatrixLoadsOfFewerMatricesIgnoreOtherLanes) {
  std::vector<uint32_t> out(96);
  Emulation e{.threads = 32, .shared_bytes = 256};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id(), d[3];
    if (t < 16)
      for (u32 c = 0; c < 4; ++c) tw_shared_store_b32(16 * t + 4 * c, 4 * t + c);
    tw_barrier();
    tw_ldmatrix<2>(d, t < 16 ? 16 * t : 0xdead0001);
    tw_ldmatrix<1>(d + 2, t < 8 ? 16 * (7 - t) : 0xdead0001);
    for (int i = 0; i < 3; ++i) tw_global_store<4, TW_PLAIN>(p + 12 * t + 4 * i, &d[i]);)",
                          out.data())),
            "");
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[3 * t], t);
    EXPECT_EQ(out[3 * t + 1], 32 + t);
    EXPECT_EQ(out[3 * t + 2], 4 * (7 - t / 4) + t % 4);
  }
}

// ---- tensor cores ------------------------------------------------------------------------------

// Where PTX says that element i of a lane's fragment is; written out from the figures of the ISA.
struct Fragment {
  int m, n, k, bits;
  std::pair<int, int> a(int lane, int i) const {  // row, column
    int g = lane >> 2, t = lane & 3;
    if (bits == 64) return {i & 1 ? g + 8 : g, t + i / 2 * 4};
    if (bits == 4) return {i % 16 < 8 ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)};
    if (bits == 32) return {i & 1 ? g + 8 : g, i < 2 ? t : t + 4};
    if (bits == 16) return {i % 4 < 2 ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
    if (m == 8) return {g, t * 4 + i};
    return {i % 8 < 4 ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  }
  std::pair<int, int> b(int lane, int i) const {  // row (k), column (n)
    int g = lane >> 2, t = lane & 3;
    if (bits == 64) return {t + i * 4, g};
    if (bits == 4) return {t * 8 + (i & 7) + (i < 8 ? 0 : 32), g};
    if (bits == 32) return {i == 0 ? t : t + 4, g};
    if (bits == 16) return {t * 2 + (i & 1) + (i < 2 ? 0 : 8), g};
    return {t * 4 + (i & 3) + (i < 4 ? 0 : 16), g};
  }
  std::pair<int, int> d(int lane, int i) const {
    return {(lane >> 2) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
  }
};

struct MmaCase {
  const char* name;
  Fragment fragment;
  Dtype a, b, d;
  int sm = 90;
};

void PrintTo(const MmaCase& mma, std::ostream* out) {
  *out << mma.name;
}

class Mma : public testing::TestWithParam<MmaCase> {};

const MmaCase kMmaCases[] = {
    {"m16n8k8_f16", {16, 8, 8, 16}, Dtype::kF16, Dtype::kF16, Dtype::kF32},
    {"m16n8k16_f16", {16, 8, 16, 16}, Dtype::kF16, Dtype::kF16, Dtype::kF32},
    {"m16n8k8_bf16", {16, 8, 8, 16}, Dtype::kBF16, Dtype::kBF16, Dtype::kF32},
    {"m16n8k16_bf16", {16, 8, 16, 16}, Dtype::kBF16, Dtype::kBF16, Dtype::kF32},
    {"m16n8k4_tf32", {16, 8, 4, 32}, Dtype::kF32, Dtype::kF32, Dtype::kF32},
    {"m16n8k8_tf32", {16, 8, 8, 32}, Dtype::kF32, Dtype::kF32, Dtype::kF32},
    {"m8n8k16_i8", {8, 8, 16, 8}, Dtype::kI8, Dtype::kI8, Dtype::kI32},
    {"m8n8k16_u8", {8, 8, 16, 8}, Dtype::kU8, Dtype::kU8, Dtype::kI32},
    {"m16n8k16_i8", {16, 8, 16, 8}, Dtype::kI8, Dtype::kI8, Dtype::kI32},
    {"m16n8k16_u8", {16, 8, 16, 8}, Dtype::kU8, Dtype::kU8, Dtype::kI32},
    {"m16n8k32_i8", {16, 8, 32, 8}, Dtype::kI8, Dtype::kI8, Dtype::kI32},
    {"m16n8k32_u8", {16, 8, 32, 8}, Dtype::kU8, Dtype::kU8, Dtype::kI32},
    {"m16n8k32_f8e4m3", {16, 8, 32, 8}, Dtype::kF8E4M3, Dtype::kF8E4M3, Dtype::kF32},
    {"m16n8k32_f8e5m2", {16, 8, 32, 8}, Dtype::kF8E5M2, Dtype::kF8E5M2, Dtype::kF32},
    {"m16n8k32_f8e4m3_f8e5m2", {16, 8, 32, 8}, Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF32},
    {"m16n8k32_f8e5m2_f8e4m3", {16, 8, 32, 8}, Dtype::kF8E5M2, Dtype::kF8E4M3, Dtype::kF32},
    {"m8n8k4_f64", {8, 8, 4, 64}, Dtype::kF64, Dtype::kF64, Dtype::kF64},
    {"m16n8k8_f16_to_f16", {16, 8, 8, 16}, Dtype::kF16, Dtype::kF16, Dtype::kF16},
    {"m16n8k16_f16_to_f16", {16, 8, 16, 16}, Dtype::kF16, Dtype::kF16, Dtype::kF16},
    {"m8n8k16_i8_u8", {8, 8, 16, 8}, Dtype::kI8, Dtype::kU8, Dtype::kI32},
    {"m8n8k16_u8_i8", {8, 8, 16, 8}, Dtype::kU8, Dtype::kI8, Dtype::kI32},
    {"m16n8k16_i8_u8", {16, 8, 16, 8}, Dtype::kI8, Dtype::kU8, Dtype::kI32},
    {"m16n8k16_u8_i8", {16, 8, 16, 8}, Dtype::kU8, Dtype::kI8, Dtype::kI32},
    {"m16n8k32_i8_u8", {16, 8, 32, 8}, Dtype::kI8, Dtype::kU8, Dtype::kI32},
    {"m16n8k32_u8_i8", {16, 8, 32, 8}, Dtype::kU8, Dtype::kI8, Dtype::kI32},
    {"m16n8k32_i4", {16, 8, 32, 4}, Dtype::kI8, Dtype::kI8, Dtype::kI32, 89},
    {"m16n8k32_u4", {16, 8, 32, 4}, Dtype::kU8, Dtype::kU8, Dtype::kI32, 89},
    {"m16n8k32_i4_u4", {16, 8, 32, 4}, Dtype::kI8, Dtype::kU8, Dtype::kI32, 89},
    {"m16n8k32_u4_i4", {16, 8, 32, 4}, Dtype::kU8, Dtype::kI8, Dtype::kI32, 89},
    {"m16n8k64_i4", {16, 8, 64, 4}, Dtype::kI8, Dtype::kI8, Dtype::kI32, 89},
    {"m16n8k64_u4", {16, 8, 64, 4}, Dtype::kU8, Dtype::kU8, Dtype::kI32, 89},
    {"m16n8k64_i4_u4", {16, 8, 64, 4}, Dtype::kI8, Dtype::kU8, Dtype::kI32, 89},
    {"m16n8k64_u4_i4", {16, 8, 64, 4}, Dtype::kU8, Dtype::kI8, Dtype::kI32, 89},
    {"m16n8k32_f8e4m3_to_f16", {16, 8, 32, 8}, Dtype::kF8E4M3, Dtype::kF8E4M3, Dtype::kF16},
    {"m16n8k32_f8e5m2_to_f16", {16, 8, 32, 8}, Dtype::kF8E5M2, Dtype::kF8E5M2, Dtype::kF16},
    {"m16n8k32_f8e4m3_f8e5m2_to_f16", {16, 8, 32, 8}, Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF16},
    {"m16n8k32_f8e5m2_f8e4m3_to_f16", {16, 8, 32, 8}, Dtype::kF8E5M2, Dtype::kF8E4M3, Dtype::kF16},
    {"m16n8k8_f64", {16, 8, 8, 64}, Dtype::kF64, Dtype::kF64, Dtype::kF64},
    {"m16n8k16_f64", {16, 8, 16, 64}, Dtype::kF64, Dtype::kF64, Dtype::kF64},
};
INSTANTIATE_TEST_SUITE_P(Shapes, Mma, testing::ValuesIn(kMmaCases),
                         [](const auto& info) { return std::string(info.param.name); });

uint64_t encode(double value, Dtype dtype) {
  return is_int(dtype) ? int_to_bits(static_cast<int64_t>(value), dtype)
                       : float_to_bits(value, dtype);
}
double decode(uint64_t bits, Dtype dtype) {
  return is_int(dtype) ? static_cast<double>(bits_to_int(bits, dtype)) : bits_to_float(bits, dtype);
}

TEST_P(Mma, MultipliesByThePtxFragments) {
  const MmaCase& mma = GetParam();
  const Fragment& f = mma.fragment;
  const int a_count = f.m * f.k / 32, b_count = f.n * f.k / 32, d_count = f.m * f.n / 32;
  const int d_bytes = dtype_bytes(mma.d);
  std::mt19937 random(5);
  auto small = [&] {  // exact in every type
    return static_cast<double>(static_cast<int>(random() % 8) -
                               (is_unsigned(mma.a) || is_unsigned(mma.b) ? 0 : 4));
  };
  double a[16][64], b[64][8], d[16][8];
  for (auto& row : a)
    for (double& x : row) x = small();
  for (auto& row : b)
    for (double& x : row) x = small();
  for (auto& row : d)
    for (double& x : row) x = small();
  std::vector<char> fa(a_count * f.bits * 4), fb(b_count * f.bits * 4), fd(32 * d_count * d_bytes);
  auto put = [](std::vector<char>& to, int index, int width, uint64_t bits) {
    if (width == 4)
      to[index / 2] = static_cast<char>(to[index / 2] | (bits & 15) << index % 2 * 4);
    else
      std::memcpy(&to[index * width / 8], &bits, width / 8);
  };
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < a_count; ++i) {
      auto [row, column] = f.a(lane, i);
      put(fa, lane * a_count + i, f.bits, encode(a[row][column], mma.a));
    }
    for (int i = 0; i < b_count; ++i) {
      auto [row, column] = f.b(lane, i);
      put(fb, lane * b_count + i, f.bits, encode(b[row][column], mma.b));
    }
    for (int i = 0; i < d_count; ++i) {
      auto [row, column] = f.d(lane, i);
      put(fd, lane * d_count + i, d_bytes * 8, encode(d[row][column], mma.d));
    }
  }
  std::string word = f.bits == 64 ? "f64" : "u32";
  std::string d_type = mma.d == Dtype::kI32 ? "i32" : std::string(dtype_name(mma.d));
  Emulation e{.threads = 32, .sm = mma.sm};
  std::string copy =
      "for (int i = 0; i < %; ++i) tw_global_load<4, TW_PLAIN>((u32*)@ + i, $ + 4 * (% * t + "
      "i));\n";
  auto load = [&](const char* to, const char* from, size_t bytes) {
    std::string line = copy;
    for (auto [mark, value] :
         {std::pair<char, std::string>{'%', std::to_string(bytes / 128)}, {'@', to}, {'$', from}})
      for (size_t at; (at = line.find(mark)) != line.npos;) line.replace(at, 1, value);
    return line;
  };
  ASSERT_EQ(text_of(e.run("u64 pa, u64 pb, u64 pd",
                          "u32 t = tw_thread_id();\n" + word + " a[8], b[4];\n" + d_type +
                              " d[4];\n" + load("a", "pa", fa.size()) + load("b", "pb", fb.size()) +
                              load("d", "pd", fd.size()) + "tw_mma_" + mma.name + "(d, a, b);\n" +
                              "for (int i = 0; i < " + std::to_string(fd.size() / 128) +
                              "; ++i) tw_global_store<4, TW_PLAIN>(pd + 4 * (" +
                              std::to_string(fd.size() / 128) + " * t + i), (u32*)d + i);",
                          fa.data(), fb.data(), fd.data())),
            "");
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < d_count; ++i) {
      auto [row, column] = f.d(lane, i);
      double expected = d[row][column];
      for (int k = 0; k < f.k; ++k) expected += a[row][k] * b[k][column];
      uint64_t bits = 0;
      std::memcpy(&bits, &fd[(lane * d_count + i) * d_bytes], d_bytes);
      EXPECT_EQ(decode(bits, mma.d), expected) << "lane " << lane << " element " << i;
    }
}

TEST(Emulator, IntegerMmaWraps) {
  std::vector<int> out(32, 0);
  Emulation e{.threads = 32};
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 a[2] = {0x7f7f7f7f, 0x7f7f7f7f}, b[1] = {0x7f7f7f7f};
    i32 d[4] = {0x7fffffff, 0, 0, 0};
    tw_mma_m16n8k16_i8(d, a, b);
    tw_global_store<4, TW_PLAIN>(p + 4 * tw_thread_id(), (u32*)d);)",
                          out.data())),
            "");
  EXPECT_EQ(out[0], static_cast<int>(0x7fffffffu + 16u * 127u * 127u));
}

// ---- global memory ------------------------------------------------------------------------------

TEST(Emulator, MaskedAccessesTouchNothing) {
  std::vector<uint32_t> data(64, 7);
  Emulation e{.threads = 32};
  e.options.may_access = [&](uint64_t address, size_t, bool) {
    return address >= Emulation::slot(data.data()) + 16 * 4 &&
           address < Emulation::slot(data.data() + 64);
  };
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id(), w = 1;
    tw_global_load_if<4, TW_PLAIN>(&w, p + 4 * t, t >= 16);
    w += 10;
    tw_global_store_if<4, TW_PLAIN>(p + 4 * t + 128, &w, t >= 8);)",
                          data.data())),
            "");
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(data[t], 7u);
    EXPECT_EQ(data[32 + t], t < 8 ? 7u : t < 16 ? 11u : 17u);
  }
}

TEST(Emulator, AtomicsFromManyBlocksAndThreads) {
  struct {
    uint64_t sum64 = 5;
    double real64 = 0.5;
    uint32_t sum = 0;
    float real = 0;
    int32_t low = 100;
    uint32_t high = 0, bits_and = ~0u, bits_or = 0, bits_xor = 0, swapped = 0;
    uint16_t half = 0, counter = 0;
  } m;
  Emulation e{.threads = 64, .grid = {16, 1, 1}};
  e.options.threads = 4;
  ASSERT_EQ(text_of(e.run("u64 p", R"(
    u32 t = tw_thread_id(), all = tw_block_id(0) * 64 + t;
    tw_atom_add<TW_GPU>(p, (u64)1 << 32);
    tw_atom_add<TW_GPU>(p + 8, 0.25);
    tw_atom_add<TW_GPU>(p + 16, all);
    tw_atom_add<TW_CTA>(p + 20, 1.0f);
    tw_atom_min<TW_GPU>(p + 24, (i32)(50 - (i32)all));
    tw_atom_max<TW_SYS>(p + 28, all);
    tw_atom_and<TW_GPU>(p + 32, ~(u32)(1u << t % 31));
    tw_atom_or<TW_GPU>(p + 36, 1u << t % 32);
    tw_atom_xor<TW_GPU>(p + 40, all);
    if (all == 77) tw_atom_xchg<TW_GPU>(p + 44, all);
    if (t == 3) tw_atom_add_f16<TW_GPU>(p + 48, (u16)0x3c00);
    u16 seen = 0, old;
    while ((old = tw_atom_cas<TW_GPU>(p + 50, seen, (u16)(seen + 1))) != seen) seen = old;)",
                          &m)),
            "");
  EXPECT_EQ(m.sum64, 5 + (uint64_t{1024} << 32));
  EXPECT_EQ(m.real64, 256.5);
  EXPECT_EQ(m.sum, 1024u * 1023 / 2);
  EXPECT_EQ(m.real, 1024.0f);
  EXPECT_EQ(m.low, 50 - 1023);
  EXPECT_EQ(m.high, 1023u);
  EXPECT_EQ(m.bits_and, 0x80000000u);
  EXPECT_EQ(m.bits_or, ~0u);
  EXPECT_EQ(m.bits_xor, 0u);
  EXPECT_EQ(m.swapped, 77u);
  EXPECT_EQ(m.half, 0x4c00) << "16.0";
  EXPECT_EQ(m.counter, 1024);
}

// ---- speed --------------------------------------------------------------------------------------

// A 64x64x64 product of f16 by 4 warps through shared memory and tensor cores. Prints its time; no
// test may depend on one.
TEST(Emulator, MatmulBlock) {
  constexpr int kSize = 64, kBlocks = 20;
  std::vector<uint16_t> a(kSize * kSize), b(kSize * kSize);
  std::vector<float> c(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = static_cast<uint16_t>(float_to_bits(i * 7 % 5 - 2, Dtype::kF16));
    b[i] = static_cast<uint16_t>(float_to_bits(i * 11 % 7 - 3, Dtype::kF16));
  }
  Emulation e{.threads = 128, .shared_bytes = 2 * kSize * kSize * 2, .grid = {kBlocks, 1, 1}};
  const std::string body = R"(
    u32 t = tw_thread_id(), lane = t % 32, warp = t / 32, w[4];
    for (u32 i = 0; i < 4; ++i) {
      tw_global_load<16, TW_PLAIN>(w, pa + 16 * (t + 128 * i));
      tw_shared_store_b128(16 * (t + 128 * i), w);
      tw_global_load<16, TW_PLAIN>(w, pb + 16 * (t + 128 * i));
      tw_shared_store_b128(8192 + 16 * (t + 128 * i), w);
    }
    tw_barrier();
    f32 d[8][4] = {};
    for (u32 k = 0; k < 64; k += 16) {
      u32 fa[4];
      tw_ldmatrix<4>(fa, ((warp * 16 + lane % 16) * 64 + k + lane / 16 * 8) * 2);
      for (u32 n = 0; n < 8; ++n) {
        u32 fb[2];
        tw_ldmatrix_trans<2>(fb, 8192 + ((k + lane % 16) * 64 + n * 8) * 2);
        tw_mma_m16n8k16_f16(d[n], fa, fb);
      }
    }
    for (u32 n = 0; n < 8; ++n)
      for (u32 i = 0; i < 2; ++i) {
        u32 row = warp * 16 + lane / 4 + 8 * i, column = n * 8 + lane % 4 * 2;
        tw_global_store<8, TW_PLAIN>(pc + (row * 64 + column) * 4, (u32*)&d[n][2 * i]);
      })";
  ASSERT_EQ(text_of(e.run("u64 pa, u64 pb, u64 pc", body, a.data(), b.data(), c.data())), "");
  const std::clock_t start = std::clock();
  ASSERT_EQ(text_of(e.run("u64 pa, u64 pb, u64 pc", body, a.data(), b.data(), c.data())), "");
  const double milliseconds = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  printf("64x64x64 f16 block, 4 warps: %.2f ms of CPU time\n", milliseconds / kBlocks);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      double expected = 0;
      for (int k = 0; k < kSize; ++k)
        expected += ((i * kSize + k) * 7 % 5 - 2) * ((k * kSize + j) * 11 % 7 - 3);
      ASSERT_EQ(c[i * kSize + j], expected) << i << "," << j;
    }
}

}  // namespace
}  // namespace tilewright::cuda
