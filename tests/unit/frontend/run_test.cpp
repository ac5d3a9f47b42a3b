// What lowered kernels compute, on the interpreter: control flow, tuples, reductions, block
// pointers and the shape operations of the library.
#include <numeric>

#include "dsl/base/numeric.h"
#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

TEST(Run, EarlyReturnsAndHelpers) {
  const char* text = R"(
@triton.jit
def clip(v, low, high):
    if v < low:
        return low, 1
    if v > high:
        return high, 2
    return v, 3

@triton.jit
def kernel(x, o, n):
    i = tl.program_id(0)
    if i >= n:
        return
    v, k = clip(tl.load(x + i), 0.0, 10.0)
    if k == 2:
        tl.store(o + i, -1.0)
        return
    tl.store(o + i, v * 10 + k)
)";
  std::vector<float> x = {-5, 3, 50, 7}, o(4, 99);
  run_lowered({.text = text,
               .signature = {"x=*f32", "o=*f32", "n=i32"},
               .arguments = {address(x.data()), address(o.data()), 3},
               .grid = {4, 1, 1}});
  EXPECT_EQ(o, (std::vector<float>{1, 33, -1, 99}));
}

TEST(Run, NestedReturnsFallThrough) {
  const char* text = R"(
@triton.jit
def pick(n):
    r = 0
    if n > 2:
        r = 1
        if n > 4:
            if n > 6:
                return 100
            r = 2
        elif n == 4:
            return 200
        r += 10
    else:
        r = 3
    return r * 2

@triton.jit
def kernel(o):
    i = tl.program_id(0)
    tl.store(o + i, pick(i))
)";
  std::vector<int32_t> o(9, -1);
  run_lowered(
      {.text = text, .signature = {"o=*i32"}, .arguments = {address(o.data())}, .grid = {9, 1, 1}});
  std::vector<int32_t> expected;
  for (int n = 0; n < 9; ++n) {
    int r = 0;
    if (n > 6)
      r = 50;
    else if (n == 4)
      r = 100;
    else if (n > 4)
      r = 12;
    else if (n > 2)
      r = 11;
    else
      r = 3;
    expected.push_back(r * 2);
  }
  EXPECT_EQ(o, expected);
}

TEST(Run, LoopsCarryEverything) {
  const char* text = R"(
@triton.jit
def kernel(o, n, step: tl.constexpr):
    a = 0
    b = 1
    pair = (0, 100)
    for i in range(n):
        a, b = b, a + b
        pair = (pair[0] + i, pair[1] - 1)
    down = 0
    for k in range(n, 0, step):
        down = down * 10 + k
    count = 0
    while count * count < n:
        count += 1
    for u in tl.static_range(3):
        down += u
    tl.store(o, a)
    tl.store(o + 1, pair[0] + pair[1])
    tl.store(o + 2, down)
    tl.store(o + 3, count)
)";
  std::vector<int32_t> o(4);
  run_lowered({.text = text,
               .signature = {"o=*i32", "n=i32"},
               .constants = {{"step", Constant::integer_of(-2)}},
               .arguments = {address(o.data()), 9}});
  EXPECT_EQ(o, (std::vector<int32_t>{34, 36 + 91, 97531 + 3, 3}));
}

TEST(Run, UnchangedVariablesLeaveTheLoop) {
  const char* text = R"(
@triton.jit
def kernel(o, n, KEEP: tl.constexpr):
    a = n + 1
    b = n + 2
    while b < 20:
        if KEEP:
            a = a
        b = b + a
    for i in range(3):
        if not KEEP:
            a = i
        b += a
    tl.store(o, b)
)";
  std::vector<int32_t> o(1);
  KernelRun run{.text = text,
                .signature = {"o=*i32", "n=i32"},
                .constants = {{"KEEP", Constant::boolean(true)}},
                .arguments = {address(o.data()), 4}};
  run_lowered(run);
  EXPECT_EQ(o[0], 6 + 5 * 3 + 5 * 3);
  // Neither loop carries `a`.
  std::string printed = ir::print(lower_text(run).value());
  EXPECT_EQ(printed.find("%a.1"), std::string::npos) << printed;
}

TEST(Run, Reductions) {
  const char* text = R"(
@triton.jit
def product_and_max(p, m, q, n):
    return p * q, tl.maximum(m, n)

@triton.jit
def kernel(x, o):
    at = tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :]
    v = tl.load(x + at)
    top, where = tl.max(v, return_indices=True)
    tl.store(o, tl.sum(v))
    tl.store(o + 1, top)
    tl.store(o + 2, where)
    tl.store(o + 3 + tl.arange(0, 2), tl.argmin(v, axis=1))
    p, m = tl.reduce((v, v), None, product_and_max)
    tl.store(o + 5, p)
    tl.store(o + 6, m)
    tl.store(o + 7, tl.sum(v > 2))
    tl.store(o + 8, tl.sum(tl.sum(v, 0, keep_dims=True) * 1.0))
)";
  std::vector<float> x = {1, 4, -2, 4, 3, -2, -2, 1}, o(9);
  run_lowered({.text = text,
               .signature = {"x=*f32", "o=*f32"},
               .arguments = {address(x.data()), address(o.data())}});
  // Ties take the smaller index.
  EXPECT_EQ(o, (std::vector<float>{7, 4, 1, 2, 1, -384, 4, 3, 7}));
}

TEST(Run, IndexReductionsPreferNumbersToNan) {
  const char* text = R"(
@triton.jit
def kernel(x, o):
    v = tl.load(x + tl.arange(0, 4))
    tl.store(o, tl.argmax(v, 0))
    tl.store(o + 1, tl.argmin(v, 0))
)";
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<int32_t> o(2);
  for (auto [values, max_at, min_at] : {std::tuple(std::vector<float>{nan, 1, 2, nan}, 2, 1),
                                        std::tuple(std::vector<float>{3, nan, nan, 3}, 0, 0),
                                        std::tuple(std::vector<float>{nan, nan, nan, nan}, 0, 0)}) {
    run_lowered({.text = text,
                 .signature = {"x=*f32", "o=*i32"},
                 .arguments = {address(values.data()), address(o.data())}});
    EXPECT_EQ(o[0], max_at);
    EXPECT_EQ(o[1], min_at);
  }
}

TEST(Run, ShapeFunctionsOfTheLibrary) {
  const char* text = R"(
@triton.jit
def kernel(x, o):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    m = tl.reshape(v, [4, 4])
    tl.store(o + i, tl.ravel(tl.flip(m, 0)))
    tl.store(o + 16 + i, tl.ravel(tl.flip(m)))
    a = tl.load(x + tl.arange(0, 8))
    b = tl.load(x + 8 + tl.arange(0, 8))
    tl.store(o + 32 + i, tl.interleave(a, b))
    tl.store(o + 48 + i, tl.flip(v, 0))
    tl.store(o + 64, tl.reshape(tl.sum(m, keep_dims=True), []))
)";
  std::vector<int32_t> x(16), o(65, -1);
  std::iota(x.begin(), x.end(), 0);
  run_lowered({.text = text,
               .signature = {"x=*i32", "o=*i32"},
               .arguments = {address(x.data()), address(o.data())}});
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(o[i], (3 - i / 4) * 4 + i % 4);
    EXPECT_EQ(o[16 + i], i / 4 * 4 + 3 - i % 4);
    EXPECT_EQ(o[32 + i], i / 2 + (i % 2) * 8);
    EXPECT_EQ(o[48 + i], 15 - i);
  }
  EXPECT_EQ(o[64], 120);
}

TEST(Run, Swizzle2dWalksBands) {
  const char* text = R"(
@triton.jit
def kernel(o, rows: tl.constexpr, cols: tl.constexpr, band: tl.constexpr):
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), rows, cols, band)
    at = tl.program_id(0) * cols + tl.program_id(1)
    tl.store(o + at, i * 100 + j)
)";
  std::vector<int32_t> o(20);
  run_lowered({.text = text,
               .signature = {"o=*i32"},
               .constants = {{"rows", Constant::integer_of(5)},
                             {"cols", Constant::integer_of(4)},
                             {"band", Constant::integer_of(2)}},
               .arguments = {address(o.data())},
               .grid = {5, 4, 1}});
  std::vector<int32_t> expected;
  for (int band = 0; band < 5; band += 2)
    for (int column = 0; column < 4; ++column)
      for (int row = band; row < std::min(band + 2, 5); ++row)
        expected.push_back(row * 100 + column);
  EXPECT_EQ(o, expected);
}

TEST(Run, BlockPointersAndDescriptors) {
  const char* text = R"(
@triton.jit
def kernel(x, o, rows, cols):
    p = tl.make_block_ptr(x, (rows, cols), (cols, 1), (0, -2), (4, 4), (1, 0))
    total = tl.zeros((4, 4), tl.float32)
    for _ in range(0, cols + 4, 4):
        total += tl.load(p, boundary_check=(0, 1))
        p = tl.advance(p, (0, 4))
    q = tl.make_block_ptr(o, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
    tl.store(q, total, boundary_check=(1, 0))
    d = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [4, 4], padding_option="nan")
    corner = d.load([1, 4])
    tl.store(o + 16, tl.sum(tl.where(corner != corner, 1, 0)))
    e = tl.make_tensor_descriptor(o + 17, [3, 3], [3, 1], [4, 4])
    e.store([1, 1], corner)
)";
  constexpr int kRows = 3, kCols = 6;
  std::vector<float> x(kRows * kCols), o(26, -7);
  std::iota(x.begin(), x.end(), 1.0f);
  run_lowered({.text = text,
               .signature = {"x=*f32", "o=*f32", "rows=i32", "cols=i32"},
               .arguments = {address(x.data()), address(o.data()), kRows, kCols}});
  auto at = [&](int r, int c) {
    return r < kRows && c >= 0 && c < kCols ? x[static_cast<size_t>(r * kCols + c)] : 0.0f;
  };
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      EXPECT_EQ(o[static_cast<size_t>(r * 4 + c)], at(r, c - 2) + at(r, c + 2) + at(r, c + 6))
          << r << " " << c;
  EXPECT_EQ(o[16], 16 - 4);
  std::vector<float> stored(o.begin() + 17, o.end());
  EXPECT_EQ(stored,
            (std::vector<float>{-7, -7, -7, -7, at(1, 4), at(1, 5), -7, at(2, 4), at(2, 5)}));
}

TEST(Run, IntegerDivisionTruncatesOnTensorsOnly) {
  const char* text = R"(
@triton.jit
def kernel(o, n, N: tl.constexpr):
    tl.store(o, n // 2)
    tl.store(o + 1, n % 4)
    tl.store(o + 2, N // 2)
    tl.store(o + 3, N % 4)
    m = N
    tl.store(o + 4, m // 2)
    tl.store(o + 5, tl.cdiv(7, 2) + tl.cdiv(-n, 2))
)";
  std::vector<int32_t> o(6);
  run_lowered({.text = text,
               .signature = {"o=*i32", "n=i32"},
               .constants = {{"N", Constant::integer_of(-7)}},
               .arguments = {address(o.data()), static_cast<uint32_t>(-7)}});
  EXPECT_EQ(o, (std::vector<int32_t>{-3, -3, -4, 1, -3, 8}));
}

TEST(Run, HalfPrecisionRoundsWhereTritonDoes) {
  const char* text = R"(
@triton.jit
def kernel(h, o):
    v = tl.load(h)
    eps = 1e-4
    tl.store(o, v + 1e-4)
    tl.store(o + 1, v + eps)
)";
  uint16_t one = 0x3c00;
  std::vector<float> o(2);
  run_lowered({.text = text,
               .signature = {"h=*f16", "o=*f32"},
               .arguments = {address(&one), address(o.data())}});
  EXPECT_EQ(o[0], 1.0f);          // in float16
  EXPECT_EQ(o[1], 1.0f + 1e-4f);  // in float32, because eps is a tensor
}

}  // namespace
}  // namespace tilewright::frontend
