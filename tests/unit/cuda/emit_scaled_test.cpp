// Block-scaled dots: emulated text against the interpreter, by sm_120's instructions and written
// out, and what ptxas makes of them.
#include "codegen/cuda/units.h"
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

struct ScaledDot {
  Dtype a, b, scale;     // u8: two e2m1 numbers; u8: e8m0
  int m, n, k;           // of numbers
  const char* function;  // "": written out
  const char* target = "sm_120";
};

std::string tile(int rows, int columns, std::string_view element) {
  return "tile<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::string(element) + ">";
}

std::string load(const std::string& name, Dtype dtype, int rows, int columns) {
  std::string type(dtype_name(dtype)), count = std::to_string(rows * columns);
  std::string at = "%" + name + ".at", pointer = "%" + name + ".ptr";
  return at + ".flat: tile<" + count + "xi32> = arange {end=" + count + ", start=0}\n" + at + ": " +
         tile(rows, columns, "i32") + " = reshape " + at + ".flat\n" + pointer +
         ".all: " + tile(rows, columns, "ptr<" + type + ">") + " = splat %" + name + "\n" +
         pointer + ": " + tile(rows, columns, "ptr<" + type + ">") + " = ptr_add " + pointer +
         ".all, " + at + "\n%" + name + ".tile: " + tile(rows, columns, type) + " = load " +
         pointer + "\n";
}

// Numbers of few bits and scales from 1/4 to 2, so that sums are exact.
Argument operand(Dtype dtype, int count, unsigned seed) {
  return dtype == Dtype::kU8 ? random_bits(dtype, static_cast<size_t>(count), seed)
                             : small_integers(dtype, static_cast<size_t>(count), -4, 4, seed);
}
Argument scales(Dtype dtype, int count, unsigned seed) {
  std::mt19937 random(seed);
  return buffer(dtype, static_cast<size_t>(count), [&](size_t) {
    int power = static_cast<int>(random() % 4) - 2;
    return dtype == Dtype::kU8 ? 127.0 + power : std::ldexp(1 + random() % 2 * 0.5, power);
  });
}

Comparison comparison(const ScaledDot& d, int warps) {
  const int run = d.scale == Dtype::kU8 ? 32 : 16;
  const int a_columns = d.a == Dtype::kU8 ? d.k / 2 : d.k,
            b_rows = d.b == Dtype::kU8 ? d.k / 2 : d.k;
  std::string a(dtype_name(d.a)), b(dtype_name(d.b)), scale(dtype_name(d.scale));
  Comparison c;
  c.target = d.target;
  c.ir = "kernel @k(%a: ptr<" + a + ">, %b: ptr<" + b + ">, %x: ptr<" + scale + ">, %y: ptr<" +
         scale + ">, %c: ptr<f32>) attributes {num_warps=" + std::to_string(warps) + "} {\n" +
         load("a", d.a, d.m, a_columns) + load("b", d.b, b_rows, d.n) +
         load("x", d.scale, d.m, d.k / run) + load("y", d.scale, d.n, d.k / run) +
         load("c", Dtype::kF32, d.m, d.n) + "%d: " + tile(d.m, d.n, "f32") +
         " = dot %a.tile, %b.tile, %c.tile, %x.tile, %y.tile\nstore %c.ptr, %d\nreturn\n}\n";
  c.arguments = {operand(d.a, d.m * a_columns, 1), operand(d.b, b_rows * d.n, 2),
                 scales(d.scale, d.m * d.k / run, 3), scales(d.scale, d.n * d.k / run, 4),
                 small_integers(Dtype::kF32, static_cast<size_t>(d.m * d.n), -4, 4, 5)};
  return c;
}

class EmitScaled : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Warps, EmitScaled, testing::Values(1, 4, 8));

TEST_P(EmitScaled, EveryFormat) {
  using enum Dtype;
  for (const ScaledDot& d : {
           ScaledDot{kF8E4M3, kF8E4M3, kU8, 32, 32, 32, "mxf8_m16n8k32_f8e4m3<"},
           ScaledDot{kF8E5M2, kF8E4M3, kU8, 64, 32, 128, "mxf8_m16n8k32_f8e5m2_f8e4m3<"},
           ScaledDot{kF8E4M3, kF8E5M2, kU8, 16, 64, 512, "mxf8_m16n8k32_f8e4m3_f8e5m2<"},
           ScaledDot{kU8, kU8, kU8, 32, 32, 64, "mxf4_m16n8k64<"},
           ScaledDot{kU8, kU8, kU8, 64, 16, 256, "mxf4_m16n8k64<"},
           ScaledDot{kU8, kU8, kF8E4M3, 32, 64, 128, "nvf4_m16n8k64<"},
           ScaledDot{kU8, kU8, kF8E4M3, 16, 8, 64, "nvf4_m16n8k64<"},
           ScaledDot{kU8, kF8E5M2, kU8, 32, 32, 64, "mxf8_m16n8k32_f8e4m3_f8e5m2<"},
           ScaledDot{kF8E4M3, kU8, kU8, 32, 32, 64, "mxf8_m16n8k32_f8e4m3<"},
           ScaledDot{kU8, kU8, kU8, 32, 32, 32, ""},  // half an instruction
           ScaledDot{kF8E4M3, kU8, kU8, 32, 32, 64, "", "sm_89"},
           ScaledDot{kU8, kU8, kF8E4M3, 32, 32, 64, "", "sm_90"},
           ScaledDot{kF8E5M2, kF8E5M2, kU8, 16, 16, 32, "", "sm_75"},
       }) {
    SCOPED_TRACE(std::string(d.target) + " " + std::string(dtype_name(d.a)) + " " +
                 std::string(dtype_name(d.b)) + " " + std::string(dtype_name(d.scale)));
    Comparison c = comparison(d, GetParam());
    const std::string text = c.source().value().text;
    for (const char* name : {"mxf8_m", "mxf4_m", "nvf4_m"})
      EXPECT_EQ(text.find(name) != std::string::npos,
                std::string_view(d.function).starts_with(name));
    EXPECT_NE(text.find(d.function), std::string::npos);
    c.check();
    if (GetParam() == 4) c.compiles({d.target});
  }
}

}  // namespace
}  // namespace tilewright::cuda
