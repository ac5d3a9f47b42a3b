// matmul_int8: 8-bit weights as kernels_lib/matmul_int8/kernel.py says.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

std::string test_matmul_int8(const Problem& problem, Executor& executor) {
  int64_t m = problem.get("m", 5), n = problem.get("n", 70), k = problem.get("k", 200);
  int64_t block_m = problem.get("BLOCK_M", 16), block_n = problem.get("BLOCK_N", 32);
  Buffer a(problem.dtype, m * k), q(Dtype::kI8, n * k), scale(Dtype::kF32, n);
  Buffer out(Dtype::kF32, m * n);
  Random random(problem.get("seed", 1));
  for (int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(random.integer(-2, 2)));
  for (int64_t i = 0; i < q.count(); ++i) q.set(i, static_cast<double>(random.integer(-128, 127)));
  // Powers of two, so that sums stay exact.
  for (int64_t i = 0; i < n; ++i)
    scale.set(i, std::ldexp(1.0, static_cast<int>(random.integer(-2, 1))));
  std::vector<double> expected(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        expected[i * n + j] += a.get(i * k + l) * q.get(j * k + l) * scale.get(j);
  out.zero();
  LaunchSpec spec{.file = "matmul_int8/kernel.py", .kernel = "matmul_int8_persistent"};
  spec.grid = {static_cast<uint32_t>(problem.get("programs", 3)),
               static_cast<uint32_t>((m + block_m - 1) / block_m), 1};
  spec.arguments = {arg("a_ptr", a),     arg("q_ptr", q),     arg("scale_ptr", scale),
                    arg("out_ptr", out), arg("M", m),         arg("N", n),
                    arg("K", k),         arg("stride_am", k), arg("stride_qn", k)};
  spec.constants = {{"BLOCK_M", frontend::Constant::integer_of(block_m)},
                    {"BLOCK_N", frontend::Constant::integer_of(block_n)},
                    {"BLOCK_K", frontend::Constant::integer_of(problem.get("BLOCK_K", 64))}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, out, expected, [](int64_t) { return 0.0; }, "c");
}

}  // namespace tilewright::kernel_tests
