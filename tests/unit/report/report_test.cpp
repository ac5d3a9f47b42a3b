// Work, bounds and matching of loops, on kernels whose numbers are known by hand.
#include "codegen/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/cuda/line_table.h"
#include "codegen/cuda/nvrtc_loader.h"
#include "codegen/passes/passes.h"
#include "frontend/frontend.h"

namespace tilewright::report {
namespace {

using cuda::sass::Class;

// 128x128x32 tiles of f16; the loop is lines 9 to 13.
constexpr const char* kGemm = R"(import triton
import triton.language as tl

@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = a_ptr + (tl.program_id(0) * BM + tl.arange(0, BM))[:, None] * lda + tl.arange(0, BK)[None, :]
    b = b_ptr + tl.arange(0, BK)[:, None] * ldb + (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * ldb

    c = c_ptr + (tl.program_id(0) * BM + tl.arange(0, BM))[:, None] * ldc
    tl.store(c + (tl.program_id(1) * BN + tl.arange(0, BN))[None, :], acc.to(tl.float16))
)";

// Two loops: one sums, one scales; then one value is stored.
constexpr const char* kSums = R"(import triton
import triton.language as tl

@triton.jit
def sums(x_ptr, y_ptr, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for i in range(0, n, B):
        total += tl.load(x_ptr + i + tl.arange(0, B))
    for i in range(0, 64):
        v = tl.load(y_ptr + i * B + tl.arange(0, B))
        tl.store(y_ptr + i * B + tl.arange(0, B), v * 2.0)
    tl.store(y_ptr, tl.sum(total, 0))
)";

struct Compiled {
  std::shared_ptr<const frontend::Program> program;
  ir::Module module;
  cuda::Source source;
  cuda::Binary binary;
  const Target* target = nullptr;

  Report report(const char* card = nullptr) const {
    return make_report({module, source, binary, *target,
                        card ? *find_card(card) : reference_card(*target), program->sources()})
        .value();
  }
};

Compiled compile(const char* text, const char* kernel, const std::vector<const char*>& arguments,
                 const std::map<std::string, int>& constants, const char* target_name, int warps,
                 bool lines = true) {
  Compiled out;
  out.target = find_target(target_name);
  out.program = frontend::Program::load("kernels/k.py", text).value();
  frontend::Specialization special;
  special.num_warps = warps;
  for (const char* argument : arguments)
    special.arguments.push_back(frontend::parse_argument(argument).value());
  for (auto& [name, value] : constants) {
    frontend::Argument constant;
    constant.name = name;
    constant.is_constant = true;
    constant.constant = frontend::Constant::integer_of(value);
    special.arguments.push_back(constant);
  }
  out.module = frontend::lower(*out.program, kernel, special).value();
  passes::run_pipeline(out.module).value();
  cuda::Options options;
  options.line_info = lines;
  options.sources = &out.program->sources();
  out.source = cuda::emit(out.module, *out.target, options).value();
  out.binary = cuda::compile(out.source, *out.target, options).value();
  return out;
}

Compiled gemm(const char* dtype, const char* target, int warps = 8, bool lines = true) {
  std::string pointer = std::string("=*") + dtype + ":16";
  std::string a = "a_ptr" + pointer, b = "b_ptr" + pointer;
  return compile(
      kGemm, "gemm",
      {a.c_str(), b.c_str(), "c_ptr=*f16:16", "K=i32:16", "lda=i32:16", "ldb=i32:16", "ldc=i32:16"},
      {{"BM", 128}, {"BN", 128}, {"BK", 32}}, target, warps, lines);
}

#define NEEDS_NVRTC \
  if (!cuda::nvrtc_info().ok()) GTEST_SKIP() << cuda::nvrtc_info().error().message

TEST(Report, CountsTheWorkOfAStep) {
  NEEDS_NVRTC;
  Compiled k = gemm("f16", "sm_89");
  std::vector<Work> work = count_work(k.module, *k.target);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_FALSE(work[0].is_loop);
  EXPECT_EQ(work[0].stored, 128 * 128 * 2);
  EXPECT_EQ(work[0].loads, 0);
  const Work& loop = work[1];
  EXPECT_TRUE(loop.is_loop);
  EXPECT_EQ(loop.loads, 2);
  EXPECT_EQ(loop.loaded, 2 * 128 * 32 * 2);
  EXPECT_EQ(loop.shared_by_row, 128 * 32 * 2);
  EXPECT_EQ(loop.shared_by_column, 128 * 32 * 2);
  EXPECT_EQ(loop.smallest_load, 128 * 32);
  EXPECT_EQ(loop.elementwise, 0);
  ASSERT_EQ(loop.dot_work.size(), 1u);
  EXPECT_EQ(loop.dot_work[0].operations, 2 * 128 * 128 * 32);
  EXPECT_EQ(loop.dot_work[0].math, Math::kF16F32);
  EXPECT_FALSE(loop.steps.has_value());
}

TEST(Report, DotsRunAtTheRateOfTheirTypes) {
  NEEDS_NVRTC;
  auto math = [](const char* dtype, const char* target) {
    Compiled k = gemm(dtype, target);
    return count_work(k.module, *k.target).at(1).dot_work.at(0).math;
  };
  EXPECT_EQ(math("bf16", "sm_80"), Math::kF16F32);
  EXPECT_EQ(math("bf16", "sm_75"), Math::kFma) << "no bf16 before sm_80";
  EXPECT_EQ(math("f32", "sm_80"), Math::kTf32);
  EXPECT_EQ(math("f32", "sm_75"), Math::kFma);
  EXPECT_EQ(math("fp8e4nv", "sm_89"), Math::kF8F32);
  EXPECT_EQ(math("fp8e4nv", "sm_90"), Math::kF16F32) << "mma.sync widens FP8 there";
}

TEST(Report, FindsTheMainLoop) {
  NEEDS_NVRTC;
  for (bool lines : {true, false})
    for (const char* target : {"sm_80", "sm_89", "sm_90", "sm_120"}) {
      SCOPED_TRACE(target);
      Compiled k = gemm("f16", target, 8, lines);
      Report report = k.report();
      ASSERT_EQ(report.parts.size(), 2u);
      const Part& loop = report.parts[1];
      EXPECT_EQ(loop.from.line, 9);
      EXPECT_GE(loop.to.line, 10);
      EXPECT_LE(loop.to.line, 12);
      ASSERT_EQ(loop.code.size(), 1u);
      // A warp's 64x32 of the tile: 4 x 4 products of m16n8k16, twice.
      EXPECT_EQ(loop.code[0].mix[Class::kTensor], 32 * loop.steps_a_turn);
      EXPECT_EQ(report.mix[Class::kTensor] % 32, 0);
      EXPECT_DOUBLE_EQ(loop.intensity(), 64.0);
      EXPECT_EQ(report.resources.spill_instructions, 0);
      EXPECT_TRUE(report.spills.empty());
    }
}

TEST(Report, LineInformationChangesNoInstruction) {
  NEEDS_NVRTC;
  Compiled with = gemm("f16", "sm_89", 8, true), without = gemm("f16", "sm_89", 8, false);
  auto a = cuda::sass::decode(with.binary.cubin, with.source).value();
  auto b = cuda::sass::decode(without.binary.cubin, without.source).value();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].opcode, b[i].opcode) << i;
  EXPECT_TRUE(cuda::read_lines(without.binary.cubin).empty());
  std::vector<cuda::LineRow> rows = cuda::read_lines(with.binary.cubin);
  // Products belong to the line of the dot, through however many helpers.
  int products = 0;
  for (const auto& i : a) {
    if (i.kind != Class::kTensor) continue;
    const cuda::LineRow* row = cuda::line_at(rows, i.offset);
    ASSERT_NE(row, nullptr);
    EXPECT_TRUE(row->file.ends_with("kernels/k.py")) << row->file;
    EXPECT_EQ(row->line, 10);
    ++products;
  }
  EXPECT_GT(products, 0);
}

TEST(Report, TellsLoopsApart) {
  NEEDS_NVRTC;
  Compiled k = compile(kSums, "sums", {"x_ptr=*f32:16", "y_ptr=*f32:16", "n=i32:16"}, {{"B", 1024}},
                       "sm_89", 4);
  Report report = k.report();
  ASSERT_EQ(report.parts.size(), 3u);
  const Part &sum = report.parts[1], &scale = report.parts[2];
  EXPECT_EQ(sum.from.line, 7);
  EXPECT_EQ(scale.from.line, 9);
  EXPECT_EQ(scale.work.steps, 64);
  EXPECT_FALSE(sum.work.steps.has_value());
  EXPECT_EQ(sum.work.elementwise, 1024);
  ASSERT_FALSE(sum.code.empty());
  ASSERT_FALSE(scale.code.empty());
  EXPECT_EQ(sum.code[0].mix.global_written, 0);
  EXPECT_GT(scale.code[0].mix.global_written, 0);
  // A warp's part of what a step loads.
  EXPECT_EQ(sum.code[0].mix.global_read, 4096 / 4 * sum.steps_a_turn);
  EXPECT_EQ(scale.code[0].mix.global_read, 4096 / 4 * scale.steps_a_turn);
  EXPECT_EQ(scale.bounds.front().name, "DRAM");
}

TEST(Report, DotsWithoutTensorInstructionsCountAsFma) {
  NEEDS_NVRTC;
  Report report = gemm("bf16", "sm_75").report();
  const Part& loop = report.parts.at(1);
  ASSERT_FALSE(loop.code.empty());
  EXPECT_EQ(loop.code[0].mix[Class::kTensor], 0);
  EXPECT_EQ(loop.work.dot_work.at(0).math, Math::kFma);
  EXPECT_TRUE(std::none_of(loop.bounds.begin(), loop.bounds.end(),
                           [](const Bound& b) { return b.name == "tensor"; }));
}

// By hand: RTX 4090, one step of the tile above by 8 warps.
TEST(Bounds, AreTheArithmeticOfTheTable) {
  Work work;
  work.is_loop = true;
  work.loads = 2;
  work.loaded = 16384;
  work.shared_by_row = work.shared_by_column = 8192;
  work.dots = 1;
  work.dot_work = {{Math::kF16F32, 2 * 128 * 128 * 32, 1}};
  cuda::sass::Mix mix;
  mix.total = 64;
  mix.by_class[static_cast<size_t>(Class::kTensor)] = 32;
  mix.by_class[static_cast<size_t>(Class::kSpecial)] = 4;
  mix.shared_read = 6144;
  const Card& card = *find_card("RTX 4090");
  std::vector<Bound> bounds = find_bounds({work, &mix, 1, 8, 2, 2, card});
  auto clocks = [&](const char* name) {
    auto it = std::find_if(bounds.begin(), bounds.end(), [&](auto& b) { return b.name == name; });
    return it == bounds.end() ? -1.0 : it->clocks;
  };
  EXPECT_DOUBLE_EQ(clocks("tensor"), 2048);
  EXPECT_DOUBLE_EQ(clocks("issue"), 64 * 8 / 4);
  EXPECT_DOUBLE_EQ(clocks("shared"), 6144 * 8 / 128);
  EXPECT_DOUBLE_EQ(clocks("special"), 4 * 8 * 32 / 16);
  EXPECT_DOUBLE_EQ(clocks("L2"), 256);
  EXPECT_DOUBLE_EQ(clocks("latency"), 200 * 2.52 / 4);
  // 256 programs as 16 x 16 tiles share each byte among 16; 3.125 bytes a clock and SM.
  EXPECT_DOUBLE_EQ(clocks("DRAM"), 16384 / 16 / 3.125);
  EXPECT_EQ(clocks("fma"), -1);
  EXPECT_EQ(bounds.front().name, "tensor");
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end(),
                             [](auto& a, auto& b) { return a.clocks > b.clocks; }));
  EXPECT_NEAR(at_most(card, 2 * 128 * 128 * 32, 2048) * 1e-12, 165.2, 0.1);
  // The same code for two steps at once takes half of a step's clocks.
  bounds = find_bounds({work, &mix, 2, 8, 2, 2, card});
  EXPECT_DOUBLE_EQ(clocks("issue"), 64 * 8 / 4 / 2);
  // Three passes of TF32.
  work.dot_work = {{Math::kTf32, 2 * 128 * 128 * 32, 3}};
  bounds = find_bounds({work, nullptr, 1, 8, 2, 2, card});
  EXPECT_DOUBLE_EQ(clocks("tensor"), 3 * 4096);
  EXPECT_EQ(clocks("issue"), -1) << "no machine code is known";
}

TEST(Report, SpillsHaveLines) {
  NEEDS_NVRTC;
  // 128 x 256 accumulators of 4 warps: 256 registers a thread.
  Compiled k = compile(kGemm, "gemm",
                       {"a_ptr=*f16:16", "b_ptr=*f16:16", "c_ptr=*f16:16", "K=i32:16", "lda=i32:16",
                        "ldb=i32:16", "ldc=i32:16"},
                       {{"BM", 128}, {"BN", 256}, {"BK", 32}}, "sm_89", 4);
  Report report = k.report();
  ASSERT_GT(report.resources.spill_instructions, 0);
  ASSERT_FALSE(report.spills.empty());
  int counted = 0;
  for (const SpillLine& spill : report.spills) {
    counted += spill.instructions;
    EXPECT_GT(spill.at.line, 0);
  }
  EXPECT_EQ(counted, report.mix[Class::kLocal]);
  EXPECT_NE(to_text(report).find("kernels/k.py:"), std::string::npos);
}

TEST(Report, TextNamesTheBound) {
  NEEDS_NVRTC;
  std::string text = to_text(gemm("f16", "sm_89").report());
  for (const char* part : {"judged as RTX 4090 (128 SM", "loop 1 kernels/k.py:9-", "a step",
                           "1048576 operations / 512", "tensor: at most 165.2 TFLOP/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  std::string other = to_text(gemm("f16", "sm_89").report("RTX 6000 Ada"));
  EXPECT_NE(other.find("1048576 operations / 1024"), std::string::npos) << other;
}

TEST(Report, NoticesOfPtxasAreKept) {
  const char* log =
      "ptxas info    : Used 40 registers\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to x in function 'k'\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to x in function 'k'\n"
      "ptxas warning : Local memory used for function 'k', size of stack frame: 512 bytes";
  std::vector<std::string> notices = ptxas_notices(log);
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_NE(notices[0].find("C7510"), std::string::npos);
  EXPECT_NE(notices[1].find("stack frame"), std::string::npos);
  EXPECT_TRUE(ptxas_notices("").empty());
}

}  // namespace
}  // namespace tilewright::report
