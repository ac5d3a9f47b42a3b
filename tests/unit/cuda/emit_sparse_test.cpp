// Dots with a sparse operand: emulated text against the interpreter, with mma.sp and written out;
// metadata in words of every width.
#include "codegen/cuda/units.h"
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

struct SparseDot {
  Dtype a, b, sum, places;
  int m, n, k;
  const char* target;
  bool is_native = true;
};

std::string tile(int rows, int columns, std::string_view element) {
  return "tile<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::string(element) + ">";
}

// Loads a row-major matrix; `name` is the parameter.
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

// Random ascending places, in words.
Argument places(const SparseDot& d, int words) {
  std::mt19937 random(5);
  Argument argument = zeros(d.places, static_cast<size_t>(d.m * words));
  const int bits = dtype_bits(d.places);
  for (size_t i = 0; i < argument.count; ++i) {
    uint64_t word = 0;
    for (int at = 0; at < bits; at += 4) {
      unsigned low = random() % 3, high = low + 1 + random() % (3 - low);
      if (d.a == Dtype::kF32) low = random() % 2 * 2, high = low + 1;
      word |= static_cast<uint64_t>(low | high << 2) << at;
    }
    argument.set(i, word);
  }
  return argument;
}

Comparison comparison(const SparseDot& d, int warps) {
  const int words = d.k * (d.a == Dtype::kF32 ? 2 : 1) / dtype_bits(d.places);
  std::string a(dtype_name(d.a)), b(dtype_name(d.b)), sum(dtype_name(d.sum));
  Comparison c;
  c.target = d.target;
  c.ir = "kernel @k(%a: ptr<" + a + ">, %e: ptr<" + std::string(dtype_name(d.places)) +
         ">, %b: ptr<" + b + ">, %c: ptr<" + sum +
         ">) attributes {num_warps=" + std::to_string(warps) + "} {\n" +
         load("a", d.a, d.m, d.k / 2) + load("e", d.places, d.m, words) + load("b", d.b, d.k, d.n) +
         load("c", d.sum, d.m, d.n) + "%d: " + tile(d.m, d.n, sum) +
         " = dot %a.tile, %b.tile, %c.tile, %e.tile\n" + "store %c.ptr, %d\nreturn\n}\n";
  auto integers = [](Dtype dtype, int count, unsigned seed) {
    int low = is_unsigned(dtype) ? 0 : -4;
    return small_integers(dtype, static_cast<size_t>(count), low, low + 8, seed);
  };
  c.arguments = {integers(d.a, d.m * d.k / 2, 1), places(d, words), integers(d.b, d.k * d.n, 2),
                 integers(d.sum, d.m * d.n, 3)};
  return c;
}

class EmitSparse : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Warps, EmitSparse, testing::Values(1, 2, 4, 8));

TEST_P(EmitSparse, EveryTypeAndWidthOfMetadata) {
  using enum Dtype;
  for (const SparseDot& d : {
           SparseDot{kF16, kF16, kF32, kI16, 64, 32, 64, "sm_80"},
           SparseDot{kF16, kF16, kF32, kU8, 32, 64, 128, "sm_90"},
           SparseDot{kBF16, kBF16, kF32, kU16, 16, 8, 32, "sm_89"},
           SparseDot{kBF16, kBF16, kF32, kI32, 32, 32, 64, "sm_80", false},
           SparseDot{kF16, kF16, kF16, kI16, 32, 32, 64, "sm_80", false},
           SparseDot{kF16, kF16, kF32, kI16, 32, 32, 64, "sm_75", false},
           SparseDot{kF16, kF16, kF32, kI16, 8, 16, 32, "sm_120"},
           SparseDot{kF32, kF32, kF32, kI16, 32, 32, 32, "sm_80"},
           SparseDot{kF32, kF32, kF32, kU8, 64, 32, 16, "sm_90"},
           SparseDot{kF32, kF32, kF32, kI16, 16, 16, 16, "sm_75", false},
           SparseDot{kI8, kI8, kI32, kI32, 64, 32, 128, "sm_80"},
           SparseDot{kU8, kI8, kI32, kI16, 32, 32, 64, "sm_90"},
           SparseDot{kI8, kU8, kI32, kU8, 16, 32, 128, "sm_86"},
           SparseDot{kU8, kU8, kI32, kU32, 16, 32, 32, "sm_80", false},
           SparseDot{kF8E4M3, kF8E5M2, kF32, kI32, 32, 32, 64, "sm_89"},
           SparseDot{kF8E5M2, kF8E5M2, kF32, kU16, 32, 32, 128, "sm_120"},
           SparseDot{kF8E4M3, kF8E4M3, kF32, kU32, 32, 32, 64, "sm_90", false},
       }) {
    SCOPED_TRACE(std::string(d.target) + " " + std::string(dtype_name(d.a)) + " " +
                 std::string(dtype_name(d.places)));
    Comparison c = comparison(d, GetParam());
    EXPECT_EQ(c.source().value().text.find("tw_mma_sp_") != std::string::npos, d.is_native);
    c.check();
    if (GetParam() == 4) c.compiles({d.target});
  }
}

}  // namespace
}  // namespace tilewright::cuda
