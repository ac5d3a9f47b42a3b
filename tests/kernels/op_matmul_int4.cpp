// matmul_int4: 4-bit weights packed as kernels_lib/matmul_int4/kernel.py says.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

std::string test_matmul_int4(const Problem& problem, Executor& executor) {
  int64_t m = problem.get("m", 5), n = problem.get("n", 70), k = problem.get("k", 512);
  int64_t splits = problem.get("splits", 2), block_m = problem.get("BLOCK_M", 16),
          block_n = problem.get("BLOCK_N", 32);
  bool persistent = problem.get("programs", 0) > 0,
       atomic = persistent || problem.get("atomic", 1) != 0;
  // Words between blocks of 256 rows of K, and between columns.
  bool blocked = problem.get("blocked", 0) != 0;
  int64_t stride_pb = blocked ? n * 64 : 64, stride_pn = blocked ? 64 : k / 4;
  Buffer a(Dtype::kF16, m * k), scale(Dtype::kF16, k / 128 * n), packed(Dtype::kI16, n * k / 4);
  Buffer out(Dtype::kF32, (atomic ? 1 : splits) * m * n);
  Random random(problem.get("seed", 1));
  for (int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(random.integer(-2, 2)));
  // Powers of two, so that sums stay exact.
  for (int64_t i = 0; i < scale.count(); ++i)
    scale.set(i, std::ldexp(1.0, static_cast<int>(random.integer(-2, 1))));
  std::vector<double> expected(m * n);
  std::vector<int> words(packed.count());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l) {
      int q = static_cast<int>(random.integer(0, 15));
      words[l / 256 * stride_pb + j * stride_pn + l % 64] |= q << (l % 256 / 64 * 4);
      double weight = (q - 8) * scale.get(l / 128 * n + j);
      for (int64_t i = 0; i < m; ++i) expected[i * n + j] += a.get(i * k + l) * weight;
    }
  for (int64_t i = 0; i < packed.count(); ++i)
    packed.set(i, static_cast<double>(static_cast<int16_t>(words[i])));
  if (atomic) out.zero();
  LaunchSpec spec{.file = "matmul_int4/kernel.py",
                  .kernel = persistent ? "matmul_int4_persistent" : "matmul_int4"};
  auto tiles = [](int64_t extent, int64_t block) {
    return static_cast<uint32_t>((extent + block - 1) / block);
  };
  spec.grid = {tiles(n, block_n), static_cast<uint32_t>(splits), tiles(m, block_m)};
  if (persistent)
    spec.grid = {static_cast<uint32_t>(problem.get("programs", 3)), tiles(m, block_m), 1};
  spec.arguments = {arg("a_ptr", a),
                    arg("packed_ptr", packed),
                    arg("scale_ptr", scale),
                    arg("out_ptr", out),
                    arg("M", m),
                    arg("N", n),
                    arg("K", k),
                    arg("stride_am", k),
                    arg("stride_pb", stride_pb),
                    arg("stride_pn", stride_pn),
                    arg("stride_sg", n)};
  spec.constants = {{"BLOCK_M", frontend::Constant::integer_of(block_m)},
                    {"BLOCK_N", frontend::Constant::integer_of(block_n)}};
  if (!persistent) spec.constants["ATOMIC"] = frontend::Constant::boolean(atomic);
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  if (!atomic) {  // workspace[splits, m, n]
    Buffer sum(Dtype::kF32, m * n);
    for (int64_t i = 0; i < m * n; ++i) {
      double total = 0;
      for (int64_t s = 0; s < splits; ++s) total += out.get(s * m * n + i);
      sum.set(i, total);
    }
    return compare(
        executor, sum, expected, [](int64_t) { return 0.0; }, "c");
  }
  return compare(
      executor, out, expected, [](int64_t) { return 0.0; }, "c");
}

}  // namespace tilewright::kernel_tests
