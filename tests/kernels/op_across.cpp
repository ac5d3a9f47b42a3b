// cumsum, linear_recurrence, sort, topk, gather, histogram: inputs, reference, comparison.
#include <algorithm>
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

frontend::Constant number(int64_t value) {
  return frontend::Constant::integer_of(value);
}

uint32_t blocks(int64_t n, int64_t block) {
  return static_cast<uint32_t>((n + block - 1) / block);
}

LaunchSpec kernel(const Problem& problem, std::string file, std::string name, uint32_t grid) {
  LaunchSpec spec{.file = std::move(file), .kernel = std::move(name)};
  spec.grid = {grid, 1, 1};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  return spec;
}

}  // namespace

std::string test_cumsum(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 3), cols = problem.get("cols", 500);
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * cols);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(rows * cols), sizes(rows * cols);
  for (int64_t i = 0; i < rows * cols; ++i) {
    x.set(i, random.uniform(-1, 1));
    bool starts = i % cols == 0;
    expected[i] = x.get(i) + (starts ? 0 : expected[i - 1]);
    sizes[i] = std::fabs(x.get(i)) + (starts ? 0 : sizes[i - 1]);
  }
  bool wide = problem.get("wide", 0) != 0;
  LaunchSpec spec = kernel(problem, "scan/kernel.py", wide ? "cumsum_wide" : "cumsum",
                           static_cast<uint32_t>(rows));
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("stride", cols), arg("cols", cols)};
  spec.constants = {{"BLOCK", number(problem.get("BLOCK", 512))}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, expected,
      [&](int64_t i) {
        return static_cast<double>(i % cols + 1) * epsilon(Dtype::kF32) * sizes[i] +
               epsilon(problem.dtype) * std::fabs(expected[i]);
      },
      "y");
}

std::string test_linear_recurrence(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 3), cols = problem.get("cols", 500);
  Buffer a(problem.dtype, rows * cols), b(problem.dtype, rows * cols),
      y(problem.dtype, rows * cols);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(rows * cols), sizes(rows * cols);
  for (int64_t i = 0; i < rows * cols; ++i) {
    a.set(i, random.uniform(-1, 1));
    b.set(i, random.uniform(-1, 1));
    bool starts = i % cols == 0;
    expected[i] = b.get(i) + (starts ? 0 : a.get(i) * expected[i - 1]);
    sizes[i] = std::fabs(b.get(i)) + (starts ? 0 : std::fabs(a.get(i)) * sizes[i - 1]);
  }
  LaunchSpec spec =
      kernel(problem, "scan/kernel.py", "linear_recurrence", static_cast<uint32_t>(rows));
  spec.arguments = {arg("a_ptr", a), arg("b_ptr", b), arg("y_ptr", y), arg("stride", cols),
                    arg("cols", cols)};
  spec.constants = {{"BLOCK", number(problem.get("BLOCK", 512))}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // Each term is rounded in at most two operations a step.
  return compare(
      executor, y, expected,
      [&](int64_t i) {
        return 2 * static_cast<double>(i % cols + 1) * epsilon(Dtype::kF32) * sizes[i] +
               epsilon(problem.dtype) * std::fabs(expected[i]);
      },
      "y");
}

namespace {

// Whole numbers, equal ones among them.
void fill_numbers(const Problem& problem, Buffer& x) {
  Random random(problem.get("seed", 1));
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(random.integer(-100, 100)));
}

std::vector<double> sorted_rows(const Buffer& x, int64_t cols, int64_t kept, bool descending) {
  std::vector<double> out;
  for (int64_t start = 0; start < x.count(); start += cols) {
    std::vector<double> row;
    for (int64_t c = 0; c < cols; ++c) row.push_back(x.get(start + c));
    std::ranges::sort(row);
    if (descending) std::ranges::reverse(row);
    out.insert(out.end(), row.begin(), row.begin() + kept);
  }
  return out;
}

}  // namespace

std::string test_sort(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 5), cols = problem.get("COLS", 64),
          block = problem.get("ROWS", 2);
  bool descending = problem.get("descending", 0) != 0;
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * cols);
  fill_numbers(problem, x);
  LaunchSpec spec = kernel(problem, "sort/kernel.py", "sort_rows", blocks(rows, block));
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("rows", rows)};
  spec.constants = {{"ROWS", number(block)},
                    {"COLS", number(cols)},
                    {"DESCENDING", frontend::Constant::boolean(descending)}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, sorted_rows(x, cols, cols, descending), [](int64_t) { return 0.0; }, "y");
}

std::string test_topk(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 5), cols = problem.get("COLS", 64), k = problem.get("K", 8),
          block = problem.get("ROWS", 2);
  Buffer x(problem.dtype, rows * cols), y(problem.dtype, rows * k);
  fill_numbers(problem, x);
  LaunchSpec spec = kernel(problem, "sort/kernel.py", "topk_rows", blocks(rows, block));
  spec.arguments = {arg("x_ptr", x), arg("y_ptr", y), arg("rows", rows)};
  spec.constants = {{"ROWS", number(block)}, {"COLS", number(cols)}, {"K", number(k)}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, sorted_rows(x, cols, k, true), [](int64_t) { return 0.0; }, "y");
}

std::string test_gather(const Problem& problem, Executor& executor) {
  int64_t rows = problem.get("rows", 5), cols = problem.get("COLS", 64),
          block = problem.get("ROWS", 2);
  Buffer x(problem.dtype, rows * cols), index(Dtype::kI32, rows * cols),
      y(problem.dtype, rows * cols);
  fill_numbers(problem, x);
  Random random(2);
  std::vector<double> expected(rows * cols);
  for (int64_t i = 0; i < rows * cols; ++i) {
    int64_t from = random.integer(0, cols - 1);
    index.set(i, static_cast<double>(from));
    expected[i] = x.get(i / cols * cols + from);
  }
  LaunchSpec spec = kernel(problem, "lookup/kernel.py", "gather_rows", blocks(rows, block));
  spec.arguments = {arg("x_ptr", x), arg("index_ptr", index), arg("y_ptr", y), arg("rows", rows)};
  spec.constants = {{"ROWS", number(block)}, {"COLS", number(cols)}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, expected, [](int64_t) { return 0.0; }, "y");
}

std::string test_histogram(const Problem& problem, Executor& executor) {
  int64_t n = problem.get("n", 3000), bins = problem.get("BINS", 64),
          block = problem.get("BLOCK", 1024);
  Buffer x(problem.dtype, n), count(Dtype::kI32, bins);
  Random random(problem.get("seed", 1));
  std::vector<double> expected(bins);
  for (int64_t i = 0; i < bins; ++i) count.set(i, 0);
  for (int64_t i = 0; i < n; ++i) {
    // Neighbours are often equal, and some lie outside.
    int64_t value = i % 3 == 0 ? random.integer(-1, bins) : 5 % bins;
    x.set(i, static_cast<double>(value));
    auto stored = static_cast<int64_t>(x.get(i));
    if (stored >= 0 && stored < bins) ++expected[stored];
  }
  LaunchSpec spec = kernel(problem, "lookup/kernel.py", "histogram", blocks(n, block));
  spec.arguments = {arg("x_ptr", x), arg("count_ptr", count), arg("n", n)};
  spec.constants = {{"BINS", number(bins)}, {"BLOCK", number(block)}};
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, count, expected, [](int64_t) { return 0.0; }, "count");
}

}  // namespace tilewright::kernel_tests
