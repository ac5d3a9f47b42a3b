// matmul_sparse: random places of the kept values, stored as kernels_lib/matmul_sparse/kernel.py
// says.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {

std::string test_matmul_sparse(const Problem& problem, Executor& executor) {
  const int64_t m = problem.get("m", 70), n = problem.get("n", 50), k = problem.get("k", 128);
  const bool integers = problem.dtype == Dtype::kI8, wide = problem.dtype == Dtype::kF32;
  const Dtype out = integers ? Dtype::kI32 : is_fp8(problem.dtype) ? Dtype::kF16 : problem.dtype;
  // "t": rows of B are columns of the product. rows=1: metadata lies row by row.
  const bool trans_b = problem.word("layout", "n") == "t", by_rows = problem.get("rows", 0) != 0;
  const int64_t bits = problem.get("meta", integers ? 32 : 16), per_word = wide ? bits / 2 : bits;
  const Dtype word = bits == 32 ? Dtype::kI32 : bits == 16 ? Dtype::kI16 : Dtype::kI8;
  const int64_t words = k / per_word;
  Buffer a(problem.dtype, m * k / 2), b(problem.dtype, k * n), c(out, m * n), meta(word, m * words);
  Random random(problem.get("seed", 1));
  for (int64_t i = 0; i < b.count(); ++i) b.set(i, static_cast<double>(random.integer(-2, 2)));
  std::vector<double> dense(m * k), expected(m * n);
  std::vector<uint32_t> places(m * words);
  const int64_t chunk = wide ? 2 : 4, keeps = chunk / 2;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t at = 0; at < k; at += chunk) {
      int64_t low = random.integer(0, 2), high = random.integer(low + 1, 3);
      if (wide) low = 2 * random.integer(0, 1), high = low + 1;
      const int64_t columns[] = {wide ? low / 2 : low, high};
      for (int64_t j = 0; j < keeps; ++j) {
        auto value = static_cast<double>(random.integer(-2, 2));
        dense[i * k + at + columns[j]] = value;
        a.set(i * (k / 2) + at / 2 + j, value);
      }
      const int64_t shift = at % per_word / chunk * 4;
      places[i * words + at / per_word] |= static_cast<uint32_t>(low | high << 2) << shift;
    }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t w = 0; w < words; ++w)
      meta.set_bits(by_rows ? i * words + w : w * m + i, places[i * words + w]);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n && dense[i * k + l] != 0; ++j)
        expected[i * n + j] += dense[i * k + l] * b.get(trans_b ? j * k + l : l * n + j);
  const int64_t block_m = problem.get("BLOCK_M", 64), block_n = problem.get("BLOCK_N", 64);
  auto tiles = [](int64_t extent, int64_t block) {
    return static_cast<uint32_t>((extent + block - 1) / block);
  };
  auto number = [](int64_t value) { return frontend::Constant::integer_of(value); };
  LaunchSpec spec{.file = "matmul_sparse/kernel.py", .kernel = "matmul_sparse"};
  spec.grid = {tiles(m, block_m) * tiles(n, block_n), 1, 1};
  spec.arguments = {arg("a_ptr", a),
                    arg("meta_ptr", meta),
                    arg("b_ptr", b),
                    arg("c_ptr", c),
                    arg("M", m),
                    arg("N", n),
                    arg("K", k),
                    arg("stride_am", k / 2),
                    arg("stride_ak", int64_t{1}),
                    arg("stride_mm", by_rows ? words : int64_t{1}),
                    arg("stride_mk", by_rows ? int64_t{1} : m),
                    arg("stride_bk", trans_b ? int64_t{1} : n),
                    arg("stride_bn", trans_b ? k : int64_t{1}),
                    arg("stride_cm", n),
                    arg("stride_cn", int64_t{1})};
  spec.constants = {{"BLOCK_M", number(block_m)},
                    {"BLOCK_N", number(block_n)},
                    {"BLOCK_K", number(problem.get("BLOCK_K", 64))},
                    {"GROUP_M", number(problem.get("GROUP_M", 8))}};
  if (integers) spec.constants["ACC"] = frontend::Constant::type(Dtype::kI32);
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // Integers below 2^24: only the last rounding is one.
  return compare(
      executor, c, expected,
      [&](int64_t i) { return integers ? 0.0 : std::fabs(expected[i]) * epsilon(out); }, "c");
}

}  // namespace tilewright::kernel_tests
