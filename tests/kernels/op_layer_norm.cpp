// Layer norm forward and both backward kernels against double.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

struct Reference {
  std::vector<double> y, mean, rstd, dx, dw, db;
};

Reference reference(const Buffer& x, const Buffer& w, const Buffer& b, const Buffer& dy,
                    int64_t rows, int64_t cols, double eps) {
  Reference ref{std::vector<double>(rows * cols), std::vector<double>(rows),
                std::vector<double>(rows),        std::vector<double>(rows * cols),
                std::vector<double>(cols),        std::vector<double>(cols)};
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0, c1 = 0, c2 = 0;
    for (int64_t c = 0; c < cols; ++c) mean += x.get(r * cols + c) / cols;
    for (int64_t c = 0; c < cols; ++c) variance += std::pow(x.get(r * cols + c) - mean, 2) / cols;
    double rstd = 1 / std::sqrt(variance + eps);
    ref.mean[r] = mean;
    ref.rstd[r] = rstd;
    for (int64_t c = 0; c < cols; ++c) {
      double hat = (x.get(r * cols + c) - mean) * rstd, w_dy = w.get(c) * dy.get(r * cols + c);
      ref.y[r * cols + c] = hat * w.get(c) + b.get(c);
      c1 += hat * w_dy / cols;
      c2 += w_dy / cols;
      ref.dw[c] += dy.get(r * cols + c) * hat;
      ref.db[c] += dy.get(r * cols + c);
    }
    for (int64_t c = 0; c < cols; ++c) {
      double hat = (x.get(r * cols + c) - mean) * rstd, w_dy = w.get(c) * dy.get(r * cols + c);
      ref.dx[r * cols + c] = (w_dy - (hat * c1 + c2)) * rstd;
    }
  }
  return ref;
}

frontend::Constant number(int64_t value) {
  return frontend::Constant::integer_of(value);
}

}  // namespace

std::string test_layer_norm(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 6), cols = problem.get("cols", 100),
          groups = problem.get("groups", 4);
  int64_t block = problem.get("BLOCK", 128);
  int warps = static_cast<int>(problem.get("warps", 4));
  Dtype dtype = problem.dtype;
  Buffer x(dtype, rows * cols), w(dtype, cols), b(dtype, cols), dy(dtype, rows * cols);
  Buffer y(dtype, rows * cols), dx(dtype, rows * cols), dw(dtype, cols), db(dtype, cols);
  Buffer mean(Dtype::kF32, rows), rstd(Dtype::kF32, rows), lock(Dtype::kI32, 2 * groups);
  Buffer dw_part(Dtype::kF32, groups * cols), db_part(Dtype::kF32, groups * cols);
  lock.zero();
  dw_part.zero();
  db_part.zero();
  Random random(problem.get("seed", 1));
  for (Buffer* buffer : {&x, &w, &b, &dy})
    for (int64_t i = 0; i < buffer->count(); ++i) buffer->set(i, random.uniform(-1, 1));
  double eps = static_cast<float>(1e-5);
  Reference ref = reference(x, w, b, dy, rows, cols, eps);

  // row=1: the forward kernel that keeps the row in registers, and the backward kernel without
  // locks.
  bool by_row = problem.get("row", 0) != 0;
  LaunchSpec forward{.file = "layer_norm/kernel.py",
                     .kernel = by_row ? "layer_norm_forward_row" : "layer_norm_forward"};
  forward.grid = {static_cast<uint32_t>(rows), 1, 1};
  forward.arguments = {arg("x_ptr", x),     arg("y_ptr", y),       arg("w_ptr", w),
                       arg("b_ptr", b),     arg("mean_ptr", mean), arg("rstd_ptr", rstd),
                       arg("stride", cols), arg("cols", cols),     arg("eps", eps)};
  forward.constants = {{"BLOCK", number(by_row ? block : problem.get("FORWARD_BLOCK", 64))}};
  forward.num_warps = warps;
  if (Status status = executor.launch(forward); !status) return status.error().text();
  double f32 = 64 * epsilon(Dtype::kF32), e = epsilon(dtype);
  std::string error = compare(
      executor, y, ref.y, [&](int64_t i) { return f32 + std::fabs(ref.y[i]) * e; }, "y");
  if (error.empty())
    error = compare(
        executor, mean, ref.mean, [&](int64_t) { return f32; }, "mean");
  if (error.empty())
    error = compare(
        executor, rstd, ref.rstd, [&](int64_t i) { return f32 * ref.rstd[i]; }, "rstd");
  if (!error.empty()) return error;

  LaunchSpec backward{.file = "layer_norm/kernel.py", .kernel = "layer_norm_backward_dx"};
  backward.grid = forward.grid;
  backward.arguments = {
      arg("dx_ptr", dx),           arg("dy_ptr", dy),     arg("dw_part_ptr", dw_part),
      arg("db_part_ptr", db_part), arg("x_ptr", x),       arg("w_ptr", w),
      arg("mean_ptr", mean),       arg("rstd_ptr", rstd), arg("lock_ptr", lock),
      arg("stride", cols),         arg("cols", cols)};
  backward.constants = {{"GROUPS", number(groups)}, {"BLOCK", number(block)}};
  if (by_row) {
    backward.kernel = "layer_norm_backward";
    backward.grid = {static_cast<uint32_t>(groups), 1, 1};
    std::erase_if(backward.arguments, [](const auto& a) { return a.name == "lock_ptr"; });
    backward.arguments.push_back(arg("rows", rows));
    backward.constants = {{"BLOCK", number(block)}};
  }
  backward.num_warps = warps;
  if (Status status = executor.launch(backward); !status) return status.error().text();
  error = compare(
      executor, dx, ref.dx, [&](int64_t i) { return 4 * f32 + std::fabs(ref.dx[i]) * e; }, "dx");
  if (!error.empty()) return error;

  int64_t block_n = 32;
  LaunchSpec reduce{.file = "layer_norm/kernel.py", .kernel = "layer_norm_backward_dwdb"};
  reduce.grid = {static_cast<uint32_t>((cols + block_n - 1) / block_n), 1, 1};
  reduce.arguments = {
      arg("dw_part_ptr", dw_part), arg("db_part_ptr", db_part),           arg("dw_ptr", dw),
      arg("db_ptr", db),           arg("groups", std::min(groups, rows)), arg("cols", cols)};
  reduce.constants = {{"BLOCK_M", number(8)}, {"BLOCK_N", number(block_n)}};
  reduce.num_warps = warps;
  if (Status status = executor.launch(reduce); !status) return status.error().text();
  double sum = f32 * static_cast<double>(rows);
  error = compare(
      executor, dw, ref.dw, [&](int64_t i) { return sum + std::fabs(ref.dw[i]) * e; }, "dw");
  if (error.empty())
    error = compare(
        executor, db, ref.db, [&](int64_t i) { return sum + std::fabs(ref.db[i]) * e; }, "db");
  return error;
}

}  // namespace tilewright::kernel_tests
