// vector_add, softmax, dropout: inputs, reference in double, comparison.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

std::string test_vector_add(const Problem& problem, Executor& executor) {
  int64_t n = problem.get("n", 1000), block = problem.get("BLOCK", 256);
  Buffer x(problem.dtype, n), y(problem.dtype, n), z(problem.dtype, n);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(n);
  for (int64_t i = 0; i < n; ++i) {
    // Integers small enough that every format holds the sum exactly: the comparison is bitwise.
    x.set(i, static_cast<double>(random.integer(-4, 4)));
    y.set(i, static_cast<double>(random.integer(-4, 4)));
    expected[i] = x.get(i) + y.get(i);
  }
  LaunchSpec spec{.file = "vector_add/kernel.py", .kernel = "vector_add"};
  spec.grid = {static_cast<uint32_t>((n + block - 1) / block), 1, 1};
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("z_ptr", z), arg("n", n)};
  spec.constants = {{"BLOCK", frontend::Constant::integer_of(block)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, z, expected, [](int64_t) { return 0.0; }, "z");
}

std::string test_softmax(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 5), cols = problem.get("cols", 100);
  int64_t block = problem.get("BLOCK", 128);
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * cols);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(rows * cols);
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, random.uniform(-6, 6));
  for (int64_t r = 0; r < rows; ++r) {
    double top = -INFINITY, total = 0;
    for (int64_t c = 0; c < cols; ++c) top = std::max(top, x.get(r * cols + c));
    for (int64_t c = 0; c < cols; ++c) total += std::exp(x.get(r * cols + c) - top);
    for (int64_t c = 0; c < cols; ++c)
      expected[r * cols + c] = std::exp(x.get(r * cols + c) - top) / total;
  }
  LaunchSpec spec{.file = "softmax/kernel.py", .kernel = "softmax"};
  spec.grid = {static_cast<uint32_t>(rows), 1, 1};
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("x_stride", cols), arg("y_stride", cols),
                    arg("cols", cols)};
  spec.constants = {{"BLOCK", frontend::Constant::integer_of(block)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // exp within 2+|x| ulp (|x| <= 12), a sum of cols terms, a division within 2 ulp, one rounding.
  double f32 = (20 + std::log2(static_cast<double>(cols))) * epsilon(Dtype::kF32);
  return compare(
      executor, y, expected,
      [&](int64_t i) { return expected[i] * (f32 + epsilon(problem.dtype)) + 1e-45; }, "y");
}

namespace {

// Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11), first word.
uint32_t philox_first(uint64_t seed, uint64_t offset) {
  uint32_t counter[4] = {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    uint32_t next[4] = {
        static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
        static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    std::copy(next, next + 4, counter);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter[0];
}

// A word as a float in [0, 1), the way tl.rand maps it.
float to_uniform(uint32_t word) {
  auto value = static_cast<int32_t>(word);
  return static_cast<float>(value < 0 ? -value - 1 : value) * 4.6566127342e-10f;
}

}  // namespace

std::string test_dropout(const Problem& problem, Executor& executor) {
  int64_t n = problem.get("n", 1000), block = problem.get("BLOCK", 256);
  int64_t seed = problem.get("seed", 42);
  float p = 0.25f;
  Buffer x(problem.dtype, n), y(problem.dtype, n);
  Random random(7);
  std::vector<double> expected(n);
  for (int64_t i = 0; i < n; ++i) {
    x.set(i, random.uniform(-2, 2));
    bool keep = to_uniform(philox_first(static_cast<uint64_t>(seed), static_cast<uint64_t>(i))) > p;
    expected[i] = keep ? x.get(i) / (1.0 - p) : 0.0;
  }
  LaunchSpec spec{.file = "dropout/kernel.py", .kernel = "dropout"};
  spec.grid = {static_cast<uint32_t>((n + block - 1) / block), 1, 1};
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("n", n), arg("p", static_cast<double>(p)),
                    arg("seed", seed)};
  spec.constants = {{"BLOCK", frontend::Constant::integer_of(block)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, expected,
      [&](int64_t i) {
        return std::fabs(expected[i]) * (epsilon(problem.dtype) + 4 * epsilon(Dtype::kF32));
      },
      "y");
}

}  // namespace tilewright::kernel_tests
