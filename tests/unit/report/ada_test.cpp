// What holds on an RTX 4090 (sm_89) without one: every config of the matmul's decorator fits, does
// not spill, fills an SM as it is meant to, and its main loop is as lean as that of the fastest
// kernel known there.
//
// That kernel (a public mma.sync GEMM, f16 with f32 sums, 153.6 TFLOP/s at 4096^3, 93 % of the peak
// and what cuBLAS gives) has tiles of 128x128x32, 8 warps as 2x4, a warp 64x32 in products of
// m16n8k16, operands by ldmatrix.x4 from swizzled shared memory and copies of 16 bytes by cp.async.
// One step of a warp of it takes at least
//
//   tensor    (64/16) * (32/8) * (32/16)                   = 32
//   ldmatrix  A (64/16) * (32/16) = 8, B (32/16) * (32/16) = 12
//   cp.async  16 KB of operands / (256 threads * 16 bytes) = 4
//   barriers  commit, wait, bar.sync                       = 3
//   ptxas     loads under a false predicate after the wait = 3
//   pointers  one of 64 bits advanced a copy               = 8
//   the rest  a predicate for the tail of either operand (2), a slot to read and one to write
//             advanced and wrapped (6), their addresses (4), the loop's count and branch (2) = 14
//
// that is 76 issue slots, 42 % of them tensor. The bar for a config is the same sum for its own
// tiles: the first three lines and the pointers change with them. The emitter's loop does not reach
// it yet: kSlack is by how much it is longer, and only ever shrinks. On the card this costs little:
// tensor cores are busy five times longer than a scheduler issues (TensorCoresAreTheBound).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "codegen/passes/passes.h"
#include "codegen/report/report.h"
#include "frontend/frontend.h"

namespace tilewright::report {
namespace {

using cuda::sass::Class;

constexpr int kSyncSlots = 3, kPtxasSlots = 3, kPointerSlots = 2, kOtherSlots = 14;
constexpr double kSlack = 1.25;
// A warp for each scheduler; with 16-bit operands and less two, so that one multiplies while the
// other loads.
constexpr int kSchedulers = 4;

std::shared_ptr<const frontend::Program> matmul() {
  std::ifstream in(TILEWRIGHT_SOURCE_DIR "/kernels_lib/matmul/kernel.py");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return frontend::Program::load("matmul/kernel.py", text).value();
}

struct Variant {
  const char* operand;
  const char* result;
  std::optional<Dtype> sums = {};
  int bits = 16;
};

Report build(const frontend::Program& program, const frontend::DecoratorConfig& config,
             const Variant& variant, const Target& target) {
  frontend::Specialization special;
  special.num_warps = config.num_warps;
  special.num_stages = config.num_stages;
  special.maxnreg = config.maxnreg.value_or(0);
  std::string a = variant.operand, c = variant.result;
  for (const std::string& argument :
       {"a_ptr=*" + a + ":16", "b_ptr=*" + a + ":16", "c_ptr=*" + c + ":16",
        std::string("M=i32:16"), std::string("N=i32:16"), std::string("K=i32:16"),
        std::string("stride_am=i32:16"), std::string("stride_ak=i32=1"),
        std::string("stride_bk=i32:16"), std::string("stride_bn=i32=1"),
        std::string("stride_cm=i32:16"), std::string("stride_cn=i32=1")})
    special.arguments.push_back(frontend::parse_argument(argument).value());
  auto constant = [&](const std::string& name, frontend::Constant value) {
    frontend::Argument argument;
    argument.name = name;
    argument.is_constant = true;
    argument.constant = std::move(value);
    special.arguments.push_back(std::move(argument));
  };
  for (auto& [name, value] : config.constants) constant(name, value);
  if (variant.sums) constant("ACC", frontend::Constant::type(*variant.sums));
  ir::Module module = frontend::lower(program, "matmul", special).value();
  passes::run_pipeline(module).value();
  cuda::Options options;
  options.line_info = true;
  options.sources = &program.sources();
  cuda::Source source = cuda::emit(module, target, options).value();
  cuda::Binary binary = cuda::compile(source, target, options).value();
  return make_report({module, source, binary, target, reference_card(target), program.sources()})
      .value();
}

const Part& main_loop(const Report& report) {
  for (const Part& part : report.parts)
    if (part.work.dots > 0) return part;
  throw std::runtime_error("no loop with a dot");
}

// Slots of a step besides the tensor cores', by the sum above.
struct Bar {
  int tensor = 0, others = 0;
};

Bar bar_for(int m, int n, int k, int threads, int tensor) {
  // Of the ways to place the warps, the one that reads least.
  int warps = threads / 32;
  Bar bar;
  bar.tensor = tensor;
  int best = INT32_MAX;
  for (int rows = 1; rows <= warps; rows *= 2) {
    int warp_m = std::max(16, m / rows), warp_n = std::max(16, n / (warps / rows));
    best = std::min(best, (warp_m / 16 + warp_n / 16) * (k / 16));
  }
  int copies = std::max(1, (m + n) * k * 2 / (threads * 16));
  bar.others = best + copies * (1 + kPointerSlots) + kSyncSlots + kPtxasSlots + kOtherSlots;
  return bar;
}

class AdaMatmul : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!cuda::nvrtc_info().ok()) GTEST_SKIP() << cuda::nvrtc_info().error().message;
    program_ = matmul();
    info_ = frontend::describe_kernel(*program_, "matmul").value();
    ASSERT_EQ(info_.configs.size(), 8u);
  }
  const frontend::DecoratorConfig& config() const {
    return info_.configs[static_cast<size_t>(GetParam())];
  }
  int extent(const char* name) const {
    return static_cast<int>(config().constants.at(name).integer);
  }
  Report build_as(const Variant& variant) const {
    return build(*program_, config(), variant, *find_target("sm_89"));
  }

  std::shared_ptr<const frontend::Program> program_;
  frontend::KernelInfo info_;
};

INSTANTIATE_TEST_SUITE_P(Configs, AdaMatmul, testing::Range(0, 8));

TEST_P(AdaMatmul, FitsWithoutSpills) {
  for (const Variant& variant :
       {Variant{"f16", "f16"}, Variant{"f16", "f16", Dtype::kF16}, Variant{"bf16", "bf16"},
        Variant{"f32", "f32", {}, 32}, Variant{"fp8e4nv", "f16", {}, 8},
        Variant{"fp8e4nv", "f16", Dtype::kF16, 8}, Variant{"i8", "i32", Dtype::kI32, 8}}) {
    SCOPED_TRACE(std::string(variant.operand) + " to " + variant.result);
    Report report = build_as(variant);
    EXPECT_EQ(report.resources.spill_instructions, 0);
    EXPECT_EQ(report.resources.stack_bytes, 0);
    EXPECT_LE(report.resources.shared_bytes, 99 * 1024);
    EXPECT_GE(report.occupancy.blocks, 1);
    EXPECT_GE(report.occupancy.warps, variant.bits == 32 ? kSchedulers : 2 * kSchedulers)
        << "bound by " << report.occupancy.bound;
    EXPECT_GT(main_loop(report).code.at(0).mix[Class::kTensor], 0);
  }
}

// Whatever else an SM has to do for a step takes less time than its products.
TEST_P(AdaMatmul, TensorCoresAreTheBound) {
  if (extent("BLOCK_M") * extent("BLOCK_N") < 128 * 128) return;  // small tiles read more
  for (const Variant& variant : {Variant{"f16", "f16"}, Variant{"fp8e4nv", "f16", {}, 8}}) {
    SCOPED_TRACE(variant.operand);
    Report report = build_as(variant);
    const Part& loop = main_loop(report);
    ASSERT_GE(loop.bounds.size(), 2u);
    EXPECT_EQ(loop.bounds[0].name, "tensor") << to_text(report);
    for (const Bound& bound : loop.bounds)
      if (bound.name == "issue") {
        EXPECT_LT(5 * bound.clocks, loop.bounds[0].clocks) << to_text(report);
      }
  }
}

TEST_P(AdaMatmul, MainLoopIsLean) {
  Report report = build_as({"f16", "f16"});
  const Part& loop = main_loop(report);
  ASSERT_EQ(loop.code.size(), 1u);
  const cuda::sass::Mix& mix = loop.code[0].mix;
  int m = extent("BLOCK_M"), n = extent("BLOCK_N"), k = extent("BLOCK_K");
  int products = m * n * k / (16 * 8 * 16) / (report.threads / 32);
  ASSERT_EQ(mix[Class::kTensor] % products, 0);
  int steps = mix[Class::kTensor] / products;
  Bar bar = bar_for(m, n, k, report.threads, products);
  int others = mix.total - mix[Class::kTensor];
  RecordProperty("tensor", mix[Class::kTensor]);
  RecordProperty("others", others);
  RecordProperty("bar", bar.others * steps);
  EXPECT_LE(others, kSlack * bar.others * steps)
      << m << "x" << n << "x" << k << ", " << steps << " steps a turn\n"
      << to_text(report);
  EXPECT_EQ(mix[Class::kLocal], 0);
  EXPECT_EQ(mix[Class::kGlobal], 0) << "operands go through registers";
}

// The kernel of the comment at the top.
TEST(AdaBar, IsTheKnownKernel) {
  Bar bar = bar_for(128, 128, 32, 256, 32);
  EXPECT_EQ(bar.tensor, 32);
  EXPECT_EQ(bar.others, 44);
}

}  // namespace
}  // namespace tilewright::report
