// The two preludes are one interface with two definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <regex>
#include <set>

#include "codegen/cuda/nvrtc_loader.h"
#include "dsl/base/numeric.h"
#include "tests/unit/cuda/emulation.h"

namespace tilewright::cuda {
namespace {

std::string read_part(const char* name) {
  std::ifstream in(std::string(TILEWRIGHT_SOURCE_DIR "/codegen/cuda/prelude/") + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The functions a part defines: names that follow a type at the start of a declaration, directly or
// through a defining macro such as TW_MMA_4_2(tw_mma_m16n8k16_f16, …).
std::set<std::string> functions_of(const std::string& text) {
  std::set<std::string> names;
  for (const char* pattern :
       {R"(TW_DEVICE\s+[a-z]\w*\s+(tw_\w+)\()", R"(^TW_[A-Z_0-9]+\((tw_\w+),)"}) {
    std::regex regex(pattern, std::regex::multiline);
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  return names;
}

TEST(Prelude, EveryDeviceIntrinsicHasAHostForm) {
  std::set<std::string> device = functions_of(read_part("device.cuh"));
  std::set<std::string> host = functions_of(read_part("host.h"));
  EXPECT_GT(device.size(), 80u) << "the pattern finds them";
  // How the device addresses shared memory, of no use to kernels.
  const std::set<std::string> own = {"tw_shared_address"};
  for (const std::string& name : device)
    EXPECT_TRUE(host.count(name) || own.count(name)) << name << " is missing from host.h";
  for (const std::string& name : host) {
    bool is_machine = name.starts_with("tw_mma") || name.starts_with("tw_atom");
    EXPECT_TRUE(!is_machine || device.count(name)) << name << " is not in device.cuh";
  }
}

TEST(Prelude, BuildsForEveryTarget) {
  const bool has_nvrtc = nvrtc_info().ok();
  for (const Target& target : all_targets()) {
    SCOPED_TRACE(target.name);
    Emulation e{.threads = 32, .sm = target.sm};
    EXPECT_EQ(text_of(e.run("", "")), "");
    if (!has_nvrtc) continue;
    const std::vector<int>& known = nvrtc()->architectures;
    if (std::find(known.begin(), known.end(), target.sm) == known.end()) continue;
    Source source;
    source.entry = "k";
    source.text = "TW_KERNEL(32) void k(u64 p) { u32 w; tw_global_load<4, TW_PLAIN>(&w, p); }\n";
    Result<Binary> binary = compile(source, target);
    ASSERT_TRUE(binary.ok()) << binary.error().text();
    EXPECT_EQ(binary->log.find("warning"), std::string::npos) << binary->log;
  }
}

// ---- numbers: the emulated text against dsl/base/numeric ---------------------------------------

// Applies `expression` of x (an f32 or f64) to each of the values; the results as 64-bit slots.
template <class T>
std::vector<uint64_t> map(const std::vector<T>& values, const std::string& expression,
                          int sm = 90) {
  std::vector<uint64_t> out(values.size());
  Emulation e{.threads = 32, .sm = sm};
  const std::string type = sizeof(T) == 8 ? "f64" : "f32", bytes = std::to_string(sizeof(T));
  EXPECT_EQ(text_of(e.run("u64 in, u64 out, i32 n",
                          "for (i32 i = tw_thread_id(); i < n; i += 32) {\n" + type +
                              " x; tw_global_load<" + bytes + ", TW_PLAIN>((u32*)&x, in + " +
                              bytes + " * i);\n" + "u64 r = (u64)(" + expression +
                              ");\ntw_global_store<8, TW_PLAIN>(out + 8 * i, (u32*)&r);\n}",
                          values.data(), out.data(), static_cast<int>(values.size()))),
            "");
  return out;
}

// Every float whose upper 16 bits are given, with lower bits about the rounding points.
std::vector<float> rounding_points() {
  std::vector<float> values;
  std::mt19937 random(3);
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (uint32_t low :
         {0u, 0x1000u, 0x7fffu, 0x8000u, 0x8001u, static_cast<uint32_t>(random() & 0xffffu)})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  for (uint32_t bits = 0; bits < 0x100; ++bits)  // ties of fp8 and f16 subnormals
    for (int exponent = -30; exponent <= 17; ++exponent)
      values.push_back(std::ldexp(static_cast<float>(bits) / 16, exponent));
  return values;
}

struct Narrowing {
  Dtype dtype;
  const char* expression;
  Rounding rounding = Rounding::kNearestEven;
  int sm = 90;
};

TEST(Prelude, NarrowingRoundsAsTheContractSays) {
  const std::vector<float> values = rounding_points();
  for (const Narrowing& narrowing : {
           Narrowing{Dtype::kF16, "tw_f16(x).bits"},
           Narrowing{Dtype::kF16, "tw_f16_rtz(x).bits", Rounding::kTowardZero},
           Narrowing{Dtype::kF16, "tw_pack_f16(0.0f, x) >> 16"},
           Narrowing{Dtype::kBF16, "tw_bf16(x).bits"},
           Narrowing{Dtype::kBF16, "tw_pack_bf16(x, 0.0f)"},
           Narrowing{Dtype::kF8E4M3, "tw_cvt_f8e4m3(x)"},
           Narrowing{Dtype::kF8E5M2, "tw_cvt_f8e5m2(x)"},
           Narrowing{Dtype::kBF16, "tw_cast_rtz<bf16>(x).bits", Rounding::kTowardZero},
           Narrowing{Dtype::kF8E4M3, "tw_cast<f8e4m3>(x).bits", Rounding::kNearestEven, 80},
           Narrowing{Dtype::kF8E5M2, "tw_cast<f8e5m2>(x).bits", Rounding::kNearestEven, 80},
           Narrowing{Dtype::kF8E4M3, "tw_cast_rtz<f8e4m3>(x).bits", Rounding::kTowardZero},
           Narrowing{Dtype::kF8E5M2, "tw_cast_rtz<f8e5m2>(x).bits", Rounding::kTowardZero},
       }) {
    SCOPED_TRACE(narrowing.expression);
    std::vector<uint64_t> out = map(values, narrowing.expression, narrowing.sm);
    int wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t expected = float_to_bits(values[i], narrowing.dtype, narrowing.rounding);
      bool both_nan = std::isnan(bits_to_float(expected, narrowing.dtype)) &&
                      std::isnan(bits_to_float(out[i], narrowing.dtype));
      if (out[i] != expected && !both_nan && ++wrong < 5)
        ADD_FAILURE() << std::hexfloat << values[i] << " gives " << std::hex << out[i]
                      << ", expected " << expected;
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Prelude, WideningIsExact) {
  std::vector<float> codes(0x10000);
  for (uint32_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<float>(i);
  for (auto [dtype, expression] :
       {std::pair{Dtype::kF16, "tw_bitcast<u32>(tw_f32(f16{(u16)x}))"},
        std::pair{Dtype::kBF16, "tw_bitcast<u32>(tw_f32(bf16{(u16)x}))"},
        std::pair{Dtype::kF8E4M3, "tw_bitcast<u32>(tw_f32(f8e4m3{(u8)(u32)x}))"},
        std::pair{Dtype::kF8E5M2, "tw_bitcast<u32>(tw_f32(f8e5m2{(u8)(u32)x}))"}}) {
    SCOPED_TRACE(expression);
    std::vector<uint64_t> out = map(codes, expression);
    const uint64_t count = uint64_t{1} << dtype_bits(dtype);
    for (uint64_t i = 0; i < count; ++i) {
      double expected = bits_to_float(i, dtype);
      float got = std::bit_cast<float>(static_cast<uint32_t>(out[i]));
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected) << i;
      ASSERT_TRUE(std::isnan(expected) || std::signbit(got) == std::signbit(expected)) << i;
    }
  }
}

TEST(Prelude, FloatsToIntegersSaturate) {
  std::vector<float> values = rounding_points();
  for (float edge : {0x1p31f, 0x1p32f, 0x1p63f, 0x1p64f, 127.5f, 255.9f, 32767.9f})
    for (float sign : {1.0f, -1.0f})
      for (float to : {0.0f, INFINITY}) values.push_back(std::nextafter(sign * edge, to));
  for (auto [dtype, type] :
       {std::pair{Dtype::kI8, "i8"}, std::pair{Dtype::kI16, "i16"}, std::pair{Dtype::kI32, "i32"},
        std::pair{Dtype::kI64, "i64"}, std::pair{Dtype::kU8, "u8"}, std::pair{Dtype::kU16, "u16"},
        std::pair{Dtype::kU32, "u32"}, std::pair{Dtype::kU64, "u64"}}) {
    SCOPED_TRACE(type);
    std::vector<uint64_t> out = map(values, "tw_cast<" + std::string(type) + ">(x)");
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(int_to_bits(static_cast<int64_t>(out[i]), dtype),
                float_to_int_bits(values[i], dtype))
          << values[i];
  }
}

TEST(Prelude, DoublesToFloats) {
  std::vector<double> values;
  std::mt19937_64 random(11);
  for (float x : rounding_points()) {
    values.push_back(x);
    values.push_back(std::bit_cast<double>(std::bit_cast<uint64_t>(static_cast<double>(x)) ^
                                           (random() & 0xffffffff)));
  }
  std::vector<uint64_t> zero = map(values, "tw_bitcast<u32>(tw_f32_rtz(x))");
  std::vector<uint64_t> half = map(values, "tw_cast<f16>(x).bits");
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ASSERT_EQ(zero[i], float_to_bits(values[i], Dtype::kF32, Rounding::kTowardZero)) << values[i];
    ASSERT_EQ(half[i], float_to_bits(values[i], Dtype::kF16)) << values[i];
  }
}

TEST(Prelude, MinimumAndMaximum) {
  const float nan = NAN;
  const std::vector<float> values = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, nan};
  std::vector<float> pairs;
  std::vector<std::pair<float, float>> operands;
  for (float a : values)
    for (float b : values)
      operands.emplace_back(a, b), pairs.push_back(static_cast<float>(pairs.size()));
  std::vector<float> flat;
  for (auto [a, b] : operands) flat.push_back(a), flat.push_back(b);
  std::vector<uint32_t> out(2 * operands.size());
  Emulation e{.threads = 32};
  ASSERT_EQ(text_of(e.run("u64 in, u64 out, i32 n", R"(
    for (i32 i = tw_thread_id(); i < n; i += 32) {
      f32 v[2];
      tw_global_load<8, TW_PLAIN>((u32*)v, in + 8 * i);
      f32 r[2] = {tw_min(v[0], v[1]), tw_max(v[0], v[1])};
      tw_global_store<8, TW_PLAIN>(out + 8 * i, (u32*)r);
    })",
                          flat.data(), out.data(), static_cast<int>(operands.size()))),
            "");
  for (size_t i = 0; i < operands.size(); ++i) {
    auto [a, b] = operands[i];
    float low = std::bit_cast<float>(out[2 * i]), high = std::bit_cast<float>(out[2 * i + 1]);
    if (std::isnan(a) || std::isnan(b)) {
      float other = std::isnan(a) ? b : a;
      EXPECT_TRUE(std::isnan(other) ? std::isnan(low) && std::isnan(high)
                                    : low == other && high == other);
      continue;
    }
    auto less = [](float x, float y) {
      return x < y || (x == y && std::signbit(x) && !std::signbit(y));
    };
    EXPECT_EQ(std::bit_cast<uint32_t>(low), std::bit_cast<uint32_t>(less(b, a) ? b : a));
    EXPECT_EQ(std::bit_cast<uint32_t>(high), std::bit_cast<uint32_t>(less(a, b) ? b : a));
  }
}

TEST(Prelude, Tf32RoundsTiesAway) {
  std::vector<float> values;
  std::mt19937 random(9);
  for (int i = 0; i < 4096; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random() & ~0xfffu)));
  }
  std::vector<uint64_t> out = map(values, "tw_tf32(x)");
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(out[i], std::bit_cast<uint32_t>(round_to_tf32(values[i])));
}

TEST(Prelude, UpperHalvesOfProducts) {
  std::vector<double> codes;
  for (int i = 0; i < 16; ++i) codes.push_back(i);
  const std::string head =
      "([&] { u64 seed = ((u64)x + 1) * 0x9e3779b97f4a7c15ull, other = seed * "
      "0xbf58476d1ce4e5b9ull; return ";
  auto check = [&](const char* type, auto zero) {
    using T = decltype(zero);
    std::vector<uint64_t> out =
        map(codes, head + "(u64)tw_mulhi((" + type + ")seed, (" + type + ")other); }())");
    for (uint64_t i = 0; i < 16; ++i) {
      uint64_t seed = (i + 1) * 0x9e3779b97f4a7c15ull, other = seed * 0xbf58476d1ce4e5b9ull;
      __int128 product = static_cast<__int128>(static_cast<T>(seed)) * static_cast<T>(other);
      if constexpr (std::is_unsigned_v<T>)
        product = static_cast<__int128>(static_cast<unsigned __int128>(static_cast<T>(seed)) *
                                        static_cast<T>(other));
      T expected = static_cast<T>(product >> (8 * sizeof(T)));
      EXPECT_EQ(static_cast<T>(out[i]), expected) << type << " " << i;
    }
  };
  check("i32", int32_t{});
  check("u32", uint32_t{});
  check("i64", int64_t{});
  check("u64", uint64_t{});
}

// Every byte to every float, and the parts that fragments of bytes are split into.
TEST(Prelude, BytesWidenExactly) {
  for (int sm : {75, 80, 90}) {
    for (const char* type : {"i8", "u8"}) {
      std::vector<uint32_t> out(256 * 3);
      Emulation e{.threads = 32, .sm = sm};
      ASSERT_EQ(text_of(e.run("u64 p",
                              std::string("for (i32 i = tw_thread_id(); i < 256; i += 32) {\n") +
                                  type + " x = (" + type +
                                  ")i; u32 w[3] = {tw_bitcast<u32>("
                                  "tw_cast<f32>(x)), tw_cast<f16>(x).bits, tw_cast<bf16>(x).bits};"
                                  "for (int j = 0; j < 3; ++j) tw_global_store<4, TW_PLAIN>("
                                  "p + 12 * i + 4 * j, w + j); }",
                              out.data())),
                "");
      for (int i = 0; i < 256; ++i) {
        double value = *type == 'i' ? static_cast<int8_t>(i) : i;
        EXPECT_EQ(out[3 * i], float_to_bits(value, Dtype::kF32)) << type << " " << i;
        EXPECT_EQ(out[3 * i + 1], float_to_bits(value, Dtype::kF16)) << type << " " << i;
        EXPECT_EQ(out[3 * i + 2], float_to_bits(value, Dtype::kBF16)) << type << " " << i;
      }
    }
    for (const char* type : {"f8e4m3", "f8e5m2", "i4", "u4"}) {
      std::vector<uint32_t> out(256 * 2);
      Emulation e{.threads = 32, .sm = sm};
      ASSERT_EQ(text_of(e.run("u64 p",
                              std::string("for (u32 i = tw_thread_id(); i < 256; i += 32) {\n") +
                                  "u32 w[2] = {i | (255 - i) << 8 | (i ^ 90) << 16 | i << 24, 0};" +
                                  "tw_split_" + type +
                                  "(w[0], w[1]);"
                                  "for (int j = 0; j < 2; ++j) tw_global_store<4, TW_PLAIN>("
                                  "p + 8 * i + 4 * j, w + j); }",
                              out.data())),
                "");
      for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t bytes[] = {i, 255 - i, i ^ 90, i};
        for (int at = 0; at < 4; ++at) {
          if (type[0] == 'f') {
            Dtype dtype = *parse_dtype(type);
            double expected = bits_to_float(bytes[at], dtype),
                   value = bits_to_float(out[2 * i + at / 2] >> at % 2 * 16 & 0xffff, Dtype::kF16);
            EXPECT_TRUE(value == expected || (value != value && expected != expected))
                << type << " " << bytes[at] << " sm " << sm;
            continue;
          }
          for (int half = 0; half < 2; ++half) {
            int nibble = static_cast<int>(bytes[at] >> 4 * half & 15);
            if (type[0] == 'i' && nibble > 7) nibble -= 16;
            EXPECT_EQ(static_cast<int8_t>(out[2 * i + half] >> 8 * at), nibble) << type;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::cuda
