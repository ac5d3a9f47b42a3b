// matmul_split: split-K with atomics and with a reduction, stream-K. A run of programs that wait
// for each other must also finish where programs run one after another.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

uint32_t tiles(int64_t extent, int64_t block) {
  return static_cast<uint32_t>((extent + block - 1) / block);
}

struct Case {
  int64_t m, n, k, block_m, block_n, block_k;
  Buffer a, b;
  std::vector<double> expected;

  explicit Case(const Problem& problem)
      : m(problem.get("m", 100)),
        n(problem.get("n", 60)),
        k(problem.get("k", 300)),
        block_m(problem.get("BLOCK_M", 32)),
        block_n(problem.get("BLOCK_N", 32)),
        block_k(problem.get("BLOCK_K", 32)),
        a(problem.dtype, m * k),
        b(problem.dtype, k * n),
        expected(m * n) {
    // Small integers: sums are exact in any order.
    Random random(problem.get("seed", 1));
    for (Buffer* buffer : {&a, &b})
      for (int64_t i = 0; i < buffer->count(); ++i)
        buffer->set(i, static_cast<double>(random.integer(-2, 2)));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l)
        for (int64_t j = 0; j < n; ++j) expected[i * n + j] += a.get(i * k + l) * b.get(l * n + j);
  }

  std::vector<LaunchArgument> operands(std::vector<LaunchArgument> outputs) {
    std::vector<LaunchArgument> all = {arg("a_ptr", a), arg("b_ptr", b)};
    all.insert(all.end(), outputs.begin(), outputs.end());
    for (auto [name, value] : {std::pair{"M", m},
                               {"N", n},
                               {"K", k},
                               {"stride_am", k},
                               {"stride_ak", int64_t{1}},
                               {"stride_bk", n},
                               {"stride_bn", int64_t{1}}})
      all.push_back(arg(name, value));
    return all;
  }

  LaunchSpec launch(const Problem& problem, std::string kernel) const {
    LaunchSpec spec{.file = "matmul_split/kernel.py", .kernel = std::move(kernel)};
    auto number = [](int64_t value) { return frontend::Constant::integer_of(value); };
    spec.constants = {{"BLOCK_M", number(block_m)},
                      {"BLOCK_N", number(block_n)},
                      {"BLOCK_K", number(block_k)},
                      {"GROUP_M", number(problem.get("GROUP_M", 2))}};
    spec.num_warps = static_cast<int>(problem.get("warps", 4));
    spec.num_stages = static_cast<int>(problem.get("stages", 3));
    return spec;
  }

  std::string check(const Executor& executor, const Buffer& c) const {
    return compare(
        executor, c, expected,
        [&](int64_t i) { return std::fabs(expected[i]) * epsilon(c.dtype()); }, "c");
  }
};

}  // namespace

std::string test_matmul_split_k(const Problem& problem, Executor& executor) {
  Case c(problem);
  int64_t splits = problem.get("splits", 3);
  bool atomic = problem.get("atomic", 0) != 0;
  Buffer out(Dtype::kF32, atomic ? c.m * c.n : splits * c.m * c.n);
  if (atomic) out.zero();
  LaunchSpec spec = c.launch(problem, "matmul_split_k");
  spec.grid = {tiles(c.m, c.block_m) * tiles(c.n, c.block_n), static_cast<uint32_t>(splits), 1};
  spec.arguments = c.operands({arg("out_ptr", out)});
  spec.constants["ATOMIC"] = frontend::Constant::boolean(atomic);
  if (Status status = executor.launch(spec); !status) return status.error().text();
  if (atomic) return c.check(executor, out);

  Buffer result(problem.dtype, c.m * c.n);
  LaunchSpec reduce{.file = "matmul_split/kernel.py", .kernel = "matmul_reduce"};
  reduce.grid = {tiles(c.m * c.n, 256), 1, 1};
  reduce.arguments = {arg("work_ptr", out), arg("c_ptr", result), arg("count", c.m * c.n),
                      arg("splits", splits)};
  reduce.constants = {{"BLOCK", frontend::Constant::integer_of(256)}};
  if (Status status = executor.launch(reduce); !status) return status.error().text();
  return c.check(executor, result);
}

std::string test_matmul_stream_k(const Problem& problem, Executor& executor) {
  Case c(problem);
  int64_t programs = problem.get("programs", 5);
  Buffer result(problem.dtype, c.m * c.n), flags(Dtype::kI32, programs);
  Buffer work(Dtype::kF32, programs * c.block_m * c.block_n);
  flags.zero();
  LaunchSpec spec = c.launch(problem, "matmul_stream_k");
  spec.grid = {static_cast<uint32_t>(programs), 1, 1};
  spec.arguments =
      c.operands({arg("c_ptr", result), arg("work_ptr", work), arg("flag_ptr", flags)});
  spec.arguments.push_back(arg("stride_cm", c.n));
  spec.arguments.push_back(arg("stride_cn", int64_t{1}));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return c.check(executor, result);
}

}  // namespace tilewright::kernel_tests
