// matmul, attention, conv2d: inputs, reference in double, comparison.
#include <cmath>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

uint32_t tiles(int64_t extent, int64_t block) {
  return static_cast<uint32_t>((extent + block - 1) / block);
}

// Exact data: integers in -2..2, whose products sum exactly in f32 for any K here, so that the only
// rounding is the last one. Random data: uniform in -1..1.
void fill(Buffer& buffer, Random& random, bool exact) {
  for (int64_t i = 0; i < buffer.count(); ++i)
    buffer.set(i, exact || is_int(buffer.dtype()) ? static_cast<double>(random.integer(-2, 2))
                                                  : random.uniform(-1, 1));
}

// Bound of a sum of `count` products with absolute sum `magnitude`, accumulated in f32, then
// rounded to `out`; f32 operands lose to TF32 first (2^-11 each) unless the problem asks for ieee.
double dot_bound(double value, double magnitude, int64_t count, Dtype in, Dtype out) {
  double sum = static_cast<double>(count) * epsilon(Dtype::kF32) * magnitude;
  double inputs = in == Dtype::kF32 ? 2.1 * 0x1.0p-11 * magnitude : 0;
  return sum + inputs + std::fabs(value) * epsilon(out);
}

frontend::Constant number(int64_t value) {
  return frontend::Constant::integer_of(value);
}

}  // namespace

std::string test_matmul(const Problem& problem, Executor& executor) {
  int64_t m = problem.get("m", 100), n = problem.get("n", 96), k = problem.get("k", 72);
  bool exact = problem.word("data", "exact") == "exact";
  // "nt": A as it is (rows of K), B transposed. `pad` elements lie between rows,
  // NaN where there is one.
  std::string layout = problem.word("layout", problem.get("trans_b", 0) != 0 ? "nt" : "nn");
  const bool trans_a = layout[0] == 't', trans_b = layout[1] == 't';
  const int64_t pad = problem.get("pad", 0);
  const int64_t a_row = (trans_a ? m : k) + pad, b_row = (trans_b ? k : n) + pad;
  bool integers = problem.dtype == Dtype::kI8;
  Dtype out = integers ? Dtype::kI32 : is_fp8(problem.dtype) ? Dtype::kF16 : problem.dtype;
  Buffer a(problem.dtype, (trans_a ? k : m) * a_row), b(problem.dtype, (trans_b ? n : k) * b_row);
  Buffer c(out, m * n);
  Random random(problem.get("seed", 1));
  fill(a, random, exact);
  fill(b, random, exact);
  for (auto [buffer, row] : {std::pair{&a, a_row}, {&b, b_row}})
    for (int64_t i = row - pad; i < buffer->count(); ++i)
      if (i % row >= row - pad) buffer->set_bits(i, ~uint64_t{0});
  bool activation = problem.word("act", "") == "leaky_relu";
  std::vector<double> expected(m * n), magnitude(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) {
        double product = a.get(trans_a ? l * a_row + i : i * a_row + l) *
                         b.get(trans_b ? j * b_row + l : l * b_row + j);
        expected[i * n + j] += product;
        magnitude[i * n + j] += std::fabs(product);
      }
  if (activation)
    for (double& value : expected) value = value >= 0 ? value : 0.01f * value;
  int64_t block_m = problem.get("BLOCK_M", 64), block_n = problem.get("BLOCK_N", 64);
  LaunchSpec spec{.file = "matmul/kernel.py", .kernel = "matmul"};
  spec.grid = {tiles(m, block_m) * tiles(n, block_n), 1, 1};
  spec.arguments = {arg("a_ptr", a),
                    arg("b_ptr", b),
                    arg("c_ptr", c),
                    arg("M", m),
                    arg("N", n),
                    arg("K", k),
                    arg("stride_am", trans_a ? int64_t{1} : a_row),
                    arg("stride_ak", trans_a ? a_row : int64_t{1}),
                    arg("stride_bk", trans_b ? int64_t{1} : b_row),
                    arg("stride_bn", trans_b ? b_row : int64_t{1}),
                    arg("stride_cm", n),
                    arg("stride_cn", int64_t{1})};
  spec.constants = {{"BLOCK_M", number(block_m)},
                    {"BLOCK_N", number(block_n)},
                    {"BLOCK_K", number(problem.get("BLOCK_K", 32))},
                    {"GROUP_M", number(problem.get("GROUP_M", 8))},
                    {"ACTIVATION", frontend::Constant::string(activation ? "leaky_relu" : "")}};
  if (integers) spec.constants["ACC"] = frontend::Constant::type(Dtype::kI32);
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, c, expected,
      [&](int64_t i) {
        if (integers) return 0.0;
        if (exact) return std::fabs(expected[i]) * epsilon(out) * (activation ? 2 : 1);
        return dot_bound(expected[i], magnitude[i], k, problem.dtype, out);
      },
      "c");
}

std::string test_attention(const Problem& problem, Executor& executor) {
  int64_t batch = problem.get("batch", 1), heads = problem.get("heads", 2);
  int64_t length = problem.get("length", 70), dim = problem.get("dim", 32);
  bool causal = problem.get("causal", 0) != 0;
  int64_t count = batch * heads * length * dim;
  Buffer q(problem.dtype, count), k(problem.dtype, count), v(problem.dtype, count);
  Buffer o(problem.dtype, count), lse(Dtype::kF32, batch * heads * length);
  Random random(problem.get("seed", 1));
  for (Buffer* buffer : {&q, &k, &v}) fill(*buffer, random, false);
  // The kernel's float argument is an f32.
  double scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim)));
  std::vector<double> expected(count), expected_lse(batch * heads * length);
  for (int64_t bh = 0; bh < batch * heads; ++bh)
    for (int64_t i = 0; i < length; ++i) {
      int64_t end = causal ? i + 1 : length, row = (bh * length + i) * dim;
      std::vector<double> scores(end);
      double top = -INFINITY, total = 0;
      for (int64_t j = 0; j < end; ++j) {
        for (int64_t d = 0; d < dim; ++d)
          scores[j] += q.get(row + d) * k.get((bh * length + j) * dim + d);
        top = std::max(top, scores[j] *= scale);
      }
      for (double& score : scores) total += score = std::exp(score - top);
      for (int64_t j = 0; j < end; ++j)
        for (int64_t d = 0; d < dim; ++d)
          expected[row + d] += scores[j] / total * v.get((bh * length + j) * dim + d);
      expected_lse[bh * length + i] = top + std::log(total);
    }
  int64_t block_m = problem.get("BLOCK_M", 64);
  LaunchSpec spec{.file = "attention/kernel.py", .kernel = "attention"};
  spec.grid = {tiles(length, block_m), static_cast<uint32_t>(batch * heads), 1};
  spec.arguments = {arg("q_ptr", q), arg("k_ptr", k), arg("v_ptr", v), arg("o_ptr", o),
                    arg("lse_ptr", lse)};
  for (const char* tensor : {"qb qh qm", "kb kh kn", "vb vh vn", "ob oh om"}) {
    std::string names = tensor;
    spec.arguments.push_back(arg("stride_" + names.substr(0, 2), heads * length * dim));
    spec.arguments.push_back(arg("stride_" + names.substr(3, 2), length * dim));
    spec.arguments.push_back(arg("stride_" + names.substr(6, 2), dim));
  }
  spec.arguments.push_back(arg("heads", heads));
  spec.arguments.push_back(arg("length", length));
  spec.arguments.push_back(arg("scale", scale));
  spec.constants = {{"BLOCK_M", number(block_m)},
                    {"BLOCK_N", number(problem.get("BLOCK_N", 32))},
                    {"HEAD_DIM", number(dim)},
                    {"CAUSAL", frontend::Constant::boolean(causal)}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  // Scores carry the operands' TF32 rounding for f32, probabilities are rounded to the dtype.
  double operand = problem.dtype == Dtype::kF32 ? 0x1.0p-11 : epsilon(problem.dtype);
  std::string error = compare(
      executor, o, expected,
      [&](int64_t i) { return 4 * operand + std::fabs(expected[i]) * epsilon(problem.dtype); },
      "o");
  if (!error.empty()) return error;
  double score_error = problem.dtype == Dtype::kF32 ? 4e-3 : 2e-5;
  return compare(
      executor, lse, expected_lse, [&](int64_t) { return score_error; }, "lse");
}

std::string test_conv2d(const Problem& problem, Executor& executor) {
  int64_t batch = problem.get("batch", 1), height = problem.get("h", 9),
          width = problem.get("w", 7);
  int64_t channels = problem.get("c", 5), filters = problem.get("f", 6);
  int64_t r = problem.get("r", 3), s = problem.get("s", 3), stride = problem.get("stride", 1);
  int64_t pad = problem.get("pad", 1), dilation = problem.get("dilation", 1);
  bool exact = problem.word("data", "exact") == "exact", with_bias = problem.get("bias", 1) != 0;
  int64_t out_h = (height + 2 * pad - dilation * (r - 1) - 1) / stride + 1;
  int64_t out_w = (width + 2 * pad - dilation * (s - 1) - 1) / stride + 1;
  Buffer x(problem.dtype, batch * height * width * channels),
      w(problem.dtype, filters * r * s * channels);
  Buffer bias(problem.dtype, filters), y(problem.dtype, batch * out_h * out_w * filters);
  Random random(problem.get("seed", 1));
  for (Buffer* buffer : {&x, &w, &bias}) fill(*buffer, random, exact);
  std::vector<double> expected(y.count()), magnitude(y.count());
  for (int64_t i = 0; i < y.count(); ++i) {
    int64_t f = i % filters, pixel = i / filters;
    int64_t ox = pixel % out_w, oy = pixel / out_w % out_h, image = pixel / (out_w * out_h);
    for (int64_t t = 0; t < r * s * channels; ++t) {
      int64_t ch = t % channels, iy = oy * stride - pad + t / channels / s * dilation;
      int64_t ix = ox * stride - pad + t / channels % s * dilation;
      if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
      double product = x.get(((image * height + iy) * width + ix) * channels + ch) *
                       w.get(f * r * s * channels + t);
      expected[i] += product;
      magnitude[i] += std::fabs(product);
    }
    if (with_bias) expected[i] += bias.get(f);
  }
  int64_t block_m = problem.get("BLOCK_M", 32), block_n = problem.get("BLOCK_N", 16);
  LaunchSpec spec{.file = "conv2d/kernel.py", .kernel = "conv2d"};
  spec.grid = {tiles(batch * out_h * out_w, block_m), tiles(filters, block_n), 1};
  spec.arguments = {arg("x_ptr", x),
                    arg("w_ptr", w),
                    with_bias ? arg("bias_ptr", bias) : none("bias_ptr"),
                    arg("y_ptr", y),
                    arg("batch", batch),
                    arg("height", height),
                    arg("width", width),
                    arg("channels", channels),
                    arg("filters", filters),
                    arg("out_h", out_h),
                    arg("out_w", out_w),
                    arg("stride_h", stride),
                    arg("stride_w", stride),
                    arg("pad_h", pad),
                    arg("pad_w", pad),
                    arg("dilation_h", dilation),
                    arg("dilation_w", dilation)};
  spec.constants = {{"R", number(r)},
                    {"S", number(s)},
                    {"BLOCK_M", number(block_m)},
                    {"BLOCK_N", number(block_n)},
                    {"BLOCK_K", number(problem.get("BLOCK_K", 16))}};
  spec.num_warps = static_cast<int>(problem.get("warps", 4));
  spec.num_stages = static_cast<int>(problem.get("stages", 3));
  if (Status status = executor.launch(spec); !status) return status.error().text();
  return compare(
      executor, y, expected,
      [&](int64_t i) {
        if (exact) return std::fabs(expected[i]) * epsilon(problem.dtype);
        return dot_bound(expected[i], magnitude[i] + 1, r * s * channels + 1, problem.dtype,
                         problem.dtype);
      },
      "y");
}

}  // namespace tilewright::kernel_tests
