// matmul_scaled: formats and scales as kernels_lib/matmul_scaled/kernel.py says.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

// One operand: `rows` rows of k values, written out, and as the kernel has it.
struct Scaled {
  Scaled(const std::string& name, int64_t rows, int64_t k, int64_t run, int64_t runs_of_a_step,
         bool by_blocks, Random& random)
      : format(name),
        nibbles(name == "e2m1"),
        data(nibbles          ? Dtype::kU8
             : name == "e4m3" ? Dtype::kF8E4M3
                              : Dtype::kF8E5M2,
             rows * (nibbles ? k / 2 : k)),
        scales(run == 16 ? Dtype::kF8E4M3 : Dtype::kU8, rows * (k / run)),
        dense(static_cast<size_t>(rows * k)),
        scale_row(by_blocks ? runs_of_a_step : k / run),
        scale_step(by_blocks ? rows * runs_of_a_step : runs_of_a_step) {
    static constexpr double kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t g = 0; g < k / run; ++g) {
        int64_t power = random.integer(-2, 1);
        scales.set(g / runs_of_a_step * scale_step + i * scale_row + g % runs_of_a_step,
                   run == 16 ? std::ldexp(1.0, static_cast<int>(power))
                             : 127.0 + static_cast<double>(power));
        for (int64_t l = g * run; l < (g + 1) * run; ++l) {
          double value = static_cast<double>(random.integer(-4, 4));
          if (nibbles) {
            auto code = static_cast<uint64_t>(random.integer(0, 15));
            value = (code & 8 ? -1 : 1) * kE2m1[code & 7];
            int64_t at = i * (k / 2) + l / 2;
            data.set_bits(at, (l % 2 ? data.bits(at) & 15 : 0) | code << (l % 2 * 4));
          } else {
            data.set(i * k + l, value);
          }
          dense[static_cast<size_t>(i * k + l)] = std::ldexp(value, static_cast<int>(power));
        }
      }
  }
  std::string format;
  bool nibbles;
  Buffer data, scales;
  std::vector<double> dense;
  int64_t scale_row, scale_step;
};

}  // namespace

std::string test_matmul_scaled(const Problem& problem, Executor& executor) {
  const int64_t m = problem.get("m", 70), n = problem.get("n", 50), k = problem.get("k", 256);
  const int64_t block_m = problem.get("BLOCK_M", 64), block_n = problem.get("BLOCK_N", 64),
                block_k = problem.get("BLOCK_K", 128), run = problem.get("run", 32);
  const bool by_blocks = problem.get("blocks", 1) != 0;
  Random random(problem.get("seed", 1));
  Scaled a(problem.word("a", "e4m3"), m, k, run, block_k / run, by_blocks, random);
  Scaled b(problem.word("b", "e4m3"), n, k, run, block_k / run, by_blocks, random);
  Buffer c(problem.dtype, m * n);
  std::vector<double> expected(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        expected[static_cast<size_t>(i * n + j)] +=
            a.dense[static_cast<size_t>(i * k + l)] * b.dense[static_cast<size_t>(j * k + l)];
  auto tiles = [](int64_t extent, int64_t block) {
    return static_cast<uint32_t>((extent + block - 1) / block);
  };
  auto number = [](int64_t value) { return frontend::Constant::integer_of(value); };
  LaunchSpec spec{.file = "matmul_scaled/kernel.py", .kernel = "matmul_scaled"};
  spec.grid = {tiles(m, block_m) * tiles(n, block_n), 1, 1};
  spec.arguments = {arg("a_ptr", a.data),
                    arg("a_scale_ptr", a.scales),
                    arg("b_ptr", b.data),
                    arg("b_scale_ptr", b.scales),
                    arg("c_ptr", c),
                    arg("M", m),
                    arg("N", n),
                    arg("K", k),
                    arg("stride_am", a.nibbles ? k / 2 : k),
                    arg("stride_bn", b.nibbles ? k / 2 : k),
                    arg("stride_sam", a.scale_row),
                    arg("stride_sak", a.scale_step),
                    arg("stride_sbn", b.scale_row),
                    arg("stride_sbk", b.scale_step),
                    arg("stride_cm", n),
                    arg("stride_cn", int64_t{1})};
  spec.constants = {{"BLOCK_M", number(block_m)},
                    {"BLOCK_N", number(block_n)},
                    {"BLOCK_K", number(block_k)},
                    {"GROUP_M", number(problem.get("GROUP_M", 8))},
                    {"FORMAT_A", frontend::Constant::string(a.format)},
                    {"FORMAT_B", frontend::Constant::string(b.format)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // Multiples of 1/64 below 2^17: only the last rounding is one.
  return compare(
      executor, c, expected,
      [&](int64_t i) {
        return std::fabs(expected[static_cast<size_t>(i)]) * epsilon(problem.dtype);
      },
      "c");
}

}  // namespace tilewright::kernel_tests
