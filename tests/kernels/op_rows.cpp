// rms_norm, cross_entropy, softmax_wide: inputs, reference in double, comparison.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

frontend::Constant number(int64_t value) {
  return frontend::Constant::integer_of(value);
}

// Rows of a rounded sum of n terms in f32, and of the functions applied to it.
double f32_slack(int64_t n) {
  return (24 + std::log2(static_cast<double>(n))) * epsilon(Dtype::kF32);
}

void fill(Random& random, double reach, std::initializer_list<Buffer*> buffers) {
  for (Buffer* buffer : buffers)
    for (int64_t i = 0; i < buffer->count(); ++i) buffer->set(i, random.uniform(-reach, reach));
}

struct RmsReference {
  std::vector<double> y, rstd, dx, dw;
};

RmsReference rms_reference(const Buffer& x, const Buffer& w, const Buffer& dy, int64_t rows,
                           int64_t cols, double eps) {
  RmsReference ref{std::vector<double>(rows * cols), std::vector<double>(rows),
                   std::vector<double>(rows * cols), std::vector<double>(cols)};
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0, mean = 0;
    for (int64_t c = 0; c < cols; ++c) squares += std::pow(x.get(r * cols + c), 2) / cols;
    double rstd = ref.rstd[r] = 1 / std::sqrt(squares + eps);
    for (int64_t c = 0; c < cols; ++c) {
      double hat = x.get(r * cols + c) * rstd;
      ref.y[r * cols + c] = hat * w.get(c);
      mean += hat * w.get(c) * dy.get(r * cols + c) / cols;
      ref.dw[c] += dy.get(r * cols + c) * hat;
    }
    for (int64_t c = 0; c < cols; ++c)
      ref.dx[r * cols + c] =
          (w.get(c) * dy.get(r * cols + c) - x.get(r * cols + c) * rstd * mean) * rstd;
  }
  return ref;
}

}  // namespace

std::string test_rms_norm(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 6), cols = problem.get("cols", 100),
          programs = problem.get("programs", 4);
  int warps = static_cast<int>(problem.get("warps", 4));
  Dtype dtype = problem.dtype;
  Buffer x(dtype, rows * cols), w(dtype, cols), dy(dtype, rows * cols), y(dtype, rows * cols),
      dx(dtype, rows * cols), dw(dtype, cols);
  Buffer rstd(Dtype::kF32, rows), dw_part(Dtype::kF32, programs * cols);
  Random random(problem.get("seed", 1));
  fill(random, 1, {&x, &w, &dy});
  double eps = static_cast<float>(1e-5);
  RmsReference ref = rms_reference(x, w, dy, rows, cols, eps);
  std::map<std::string, frontend::Constant> block = {{"BLOCK", number(problem.get("BLOCK", 128))}};

  LaunchSpec forward{.file = "rms_norm/kernel.py", .kernel = "rms_norm_forward"};
  forward.grid = {static_cast<uint32_t>(rows), 1, 1};
  forward.arguments = {arg("x_ptr", x),       arg("y_ptr", y),     arg("w_ptr", w),
                       arg("rstd_ptr", rstd), arg("stride", cols), arg("cols", cols),
                       arg("eps", eps)};
  forward.constants = block;
  forward.num_warps = warps;
  if (Status status = executor.launch(forward); !status) return status.error().text();
  double f32 = f32_slack(cols), e = epsilon(dtype);
  std::string error = compare(
      executor, y, ref.y, [&](int64_t i) { return std::fabs(ref.y[i]) * (f32 + e) + 1e-45; }, "y");
  if (error.empty())
    error = compare(
        executor, rstd, ref.rstd, [&](int64_t i) { return f32 * ref.rstd[i]; }, "rstd");
  if (!error.empty()) return error;

  LaunchSpec backward{.file = "rms_norm/kernel.py", .kernel = "rms_norm_backward"};
  backward.grid = {static_cast<uint32_t>(programs), 1, 1};
  backward.arguments = {arg("dx_ptr", dx),   arg("dy_ptr", dy),     arg("x_ptr", x),
                        arg("w_ptr", w),     arg("rstd_ptr", rstd), arg("dw_part_ptr", dw_part),
                        arg("stride", cols), arg("rows", rows),     arg("cols", cols)};
  backward.constants = block;
  backward.num_warps = warps;
  if (Status status = executor.launch(backward); !status) return status.error().text();
  error = compare(
      executor, dx, ref.dx, [&](int64_t i) { return 8 * f32 + std::fabs(ref.dx[i]) * e; }, "dx");
  if (!error.empty()) return error;

  int64_t block_n = 32;
  LaunchSpec reduce{.file = "rms_norm/kernel.py", .kernel = "rms_norm_backward_dw"};
  reduce.grid = {static_cast<uint32_t>((cols + block_n - 1) / block_n), 1, 1};
  reduce.arguments = {arg("dw_part_ptr", dw_part), arg("dw_ptr", dw), arg("parts", programs),
                      arg("cols", cols)};
  reduce.constants = {{"BLOCK_M", number(8)}, {"BLOCK_N", number(block_n)}};
  reduce.num_warps = warps;
  if (Status status = executor.launch(reduce); !status) return status.error().text();
  double sum = 4 * f32 * static_cast<double>(rows);
  return compare(
      executor, dw, ref.dw, [&](int64_t i) { return sum + std::fabs(ref.dw[i]) * e; }, "dw");
}

std::string test_cross_entropy(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 5), cols = problem.get("cols", 1000), ignore = -100;
  int64_t block = problem.get("BLOCK", 256);
  int warps = static_cast<int>(problem.get("warps", 4));
  Dtype dtype = problem.dtype;
  Buffer x(dtype, rows * cols), dx(dtype, rows * cols), target(Dtype::kI64, rows);
  Buffer loss(Dtype::kF32, rows), lse(Dtype::kF32, rows), dloss(Dtype::kF32, rows);
  Random random(problem.get("seed", 1));
  fill(random, 6, {&x});
  fill(random, 1, {&dloss});
  std::vector<double> losses(rows), lses(rows), dlogits(rows * cols);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t wanted = r == 1 ? ignore : random.integer(0, cols - 1);
    target.set(r, static_cast<double>(wanted));
    if (r == 2) x.set(r * cols, -INFINITY);
    double total = 0;
    for (int64_t c = 0; c < cols; ++c) total += std::exp(x.get(r * cols + c));
    lses[r] = std::log(total);
    losses[r] = wanted == ignore ? 0 : lses[r] - x.get(r * cols + wanted);
    for (int64_t c = 0; c < cols; ++c)
      dlogits[r * cols + c] = (std::exp(x.get(r * cols + c)) / total - (c == wanted)) *
                              (wanted == ignore ? 0 : dloss.get(r));
  }
  LaunchSpec forward{.file = "cross_entropy/kernel.py", .kernel = "cross_entropy_forward"};
  forward.grid = {static_cast<uint32_t>(rows), 1, 1};
  forward.arguments = {arg("logits_ptr", x), arg("target_ptr", target), arg("loss_ptr", loss),
                       arg("lse_ptr", lse),  arg("stride", cols),       arg("cols", cols),
                       arg("ignore", ignore)};
  forward.constants = {{"STEPS", number(problem.get("STEPS", 4))},
                       {"LANES", number(problem.get("LANES", 128))}};
  forward.num_warps = warps;
  if (Status status = executor.launch(forward); !status) return status.error().text();
  // exp within 2+|x| ulp (|x| <= 12), sums of cols terms, a logarithm near 10.
  double f32 = f32_slack(cols), e = epsilon(dtype);
  std::string error = compare(
      executor, lse, lses, [&](int64_t i) { return f32 * (1 + std::fabs(lses[i])); }, "lse");
  if (error.empty())
    error = compare(
        executor, loss, losses, [&](int64_t i) { return f32 * (1 + std::fabs(lses[i])); }, "loss");
  if (!error.empty()) return error;

  LaunchSpec backward{.file = "cross_entropy/kernel.py", .kernel = "cross_entropy_backward"};
  backward.grid = {static_cast<uint32_t>(rows), static_cast<uint32_t>((cols + block - 1) / block),
                   1};
  backward.arguments = {arg("dlogits_ptr", dx),    arg("dloss_ptr", dloss), arg("logits_ptr", x),
                        arg("target_ptr", target), arg("lse_ptr", lse),     arg("stride", cols),
                        arg("cols", cols),         arg("ignore", ignore)};
  backward.constants = {{"BLOCK", number(block)}};
  backward.num_warps = warps;
  if (Status status = executor.launch(backward); !status) return status.error().text();
  return compare(
      executor, dx, dlogits, [&](int64_t i) { return 4 * f32 + std::fabs(dlogits[i]) * e; },
      "dlogits");
}

std::string test_softmax_wide(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 3), cols = problem.get("cols", 5000);
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * cols);
  Random random(problem.get("seed", 1));
  fill(random, 6, {&x});
  std::vector<double> expected(rows * cols);
  for (int64_t r = 0; r < rows; ++r) {
    double total = 0;
    for (int64_t c = 0; c < cols; ++c) total += std::exp(x.get(r * cols + c));
    for (int64_t c = 0; c < cols; ++c)
      expected[r * cols + c] = std::exp(x.get(r * cols + c)) / total;
  }
  LaunchSpec spec{.file = "softmax/kernel.py", .kernel = "softmax_wide"};
  spec.grid = {static_cast<uint32_t>(rows), 1, 1};
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("x_stride", cols), arg("y_stride", cols),
                    arg("cols", cols)};
  spec.constants = {{"STEPS", number(problem.get("STEPS", 4))},
                    {"LANES", number(problem.get("LANES", 256))}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  double f32 = 2 * f32_slack(cols);
  return compare(
      executor, y, expected,
      [&](int64_t i) { return expected[i] * (f32 + epsilon(problem.dtype)) + 1e-45; }, "y");
}

}  // namespace tilewright::kernel_tests
