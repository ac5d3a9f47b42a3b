// transpose and the activations: inputs, reference in double, comparison.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

frontend::Constant number(int64_t value) {
  return frontend::Constant::integer_of(value);
}

}  // namespace

std::string test_transpose(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 70), cols = problem.get("cols", 50);
  int64_t block_m = problem.get("BLOCK_M", 32), block_n = problem.get("BLOCK_N", 32);
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * cols);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(rows * cols);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      x.set(r * cols + c, static_cast<double>(random.integer(-8, 7)));
      expected[c * rows + r] = x.get(r * cols + c);
    }
  LaunchSpec spec{.file = "transpose/kernel.py", .kernel = "transpose"};
  spec.grid = {static_cast<uint32_t>((cols + block_n - 1) / block_n),
               static_cast<uint32_t>((rows + block_m - 1) / block_m), 1};
  spec.arguments = {arg("x_ptr", x),   arg("y_ptr", y),       arg("rows", rows),
                    arg("cols", cols), arg("x_stride", cols), arg("y_stride", rows)};
  spec.constants = {{"BLOCK_M", number(block_m)}, {"BLOCK_N", number(block_n)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, expected, [](int64_t) { return 0.0; }, "y");
}

std::string test_gelu(const Problem& problem, Executor& executor) {
  int64_t n = problem.get("n", 1000), block = problem.get("BLOCK", 256),
          tanh_form = problem.get("tanh", 0);
  Buffer x(problem.dtype, n), y(problem.dtype, n);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(n);
  for (int64_t i = 0; i < n; ++i) {
    // Far out the results must be 0 and x, not NaN.
    x.set(i, i < 4 ? (i % 2 ? 60.0 : -60.0) : random.uniform(-5, 5));
    double v = x.get(i);
    double u = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
    expected[i] =
        tanh_form ? 0.5 * v * (1 + std::tanh(u)) : 0.5 * v * (1 + std::erf(v * M_SQRT1_2));
  }
  LaunchSpec spec{.file = "activation/kernel.py", .kernel = "gelu"};
  spec.grid = {static_cast<uint32_t>((n + block - 1) / block), 1, 1};
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("n", n)};
  spec.constants = {{"TANH", number(tanh_form)}, {"BLOCK", number(block)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // 1 + erf and 1 - 1/(…) cancel for negative x: the error is relative to x.
  return compare(
      executor, y, expected,
      [&](int64_t i) {
        return std::fabs(expected[i]) * epsilon(problem.dtype) +
               (1 + std::fabs(x.get(i))) * 8 * epsilon(Dtype::kF32);
      },
      "y");
}

std::string test_silu_mul(const Problem& problem, Executor& executor) {
  int64_t n = problem.get("n", 1000), block = problem.get("BLOCK", 256);
  Dtype dtype = problem.dtype;
  Buffer gate(dtype, n), up(dtype, n), dy(dtype, n), y(dtype, n), dgate(dtype, n), dup(dtype, n);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(n), expected_dgate(n), expected_dup(n);
  for (int64_t i = 0; i < n; ++i) {
    gate.set(i, i < 4 ? (i % 2 ? 90.0 : -90.0) : random.uniform(-6, 6));
    up.set(i, random.uniform(-2, 2));
    dy.set(i, random.uniform(-2, 2));
    double g = gate.get(i), s = 1 / (1 + std::exp(-g));
    expected[i] = g * s * up.get(i);
    expected_dgate[i] = dy.get(i) * up.get(i) * (s + g * s * (1 - s));
    expected_dup[i] = dy.get(i) * g * s;
  }
  LaunchSpec spec{.file = "activation/kernel.py", .kernel = "silu_mul"};
  spec.grid = {static_cast<uint32_t>((n + block - 1) / block), 1, 1};
  spec.arguments = {arg("gate_ptr", gate), arg("up_ptr", up), arg("y_ptr", y), arg("n", n)};
  spec.constants = {{"BLOCK", number(block)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  auto bound = [&](const std::vector<double>& values) {
    return [&](int64_t i) {
      return std::fabs(values[i]) * epsilon(dtype) +
             (1 + std::fabs(gate.get(i))) * 32 * epsilon(Dtype::kF32);
    };
  };
  std::string error = compare(executor, y, expected, bound(expected), "y");
  if (!error.empty()) return error;

  spec.kernel = "silu_mul_backward";
  spec.arguments = {arg("dy_ptr", dy),       arg("gate_ptr", gate), arg("up_ptr", up),
                    arg("dgate_ptr", dgate), arg("dup_ptr", dup),   arg("n", n)};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  error = compare(executor, dgate, expected_dgate, bound(expected_dgate), "dgate");
  return error.empty() ? compare(executor, dup, expected_dup, bound(expected_dup), "dup") : error;
}

}  // namespace tilewright::kernel_tests
