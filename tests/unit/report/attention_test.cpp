// What holds of the attention kernel's machine code: registers without spills, blocks enough that
// one's softmax overlaps with another's products, and a loop in which whole tiles pass by the
// masks.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "codegen/passes/passes.h"
#include "codegen/report/report.h"
#include "frontend/frontend.h"

namespace tilewright::report {
namespace {

struct Shape {
  int dim, block_m, block_n, warps;
  bool causal;
  int programs;  // an SM holds at least
  int slots;     // a step of a warp takes at most, without copies and masks
};

Report build(const Shape& shape, const Target& target) {
  std::ifstream in(TILEWRIGHT_SOURCE_DIR "/kernels_lib/attention/kernel.py");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto program = frontend::Program::load("attention/kernel.py", text).value();
  frontend::Specialization special;
  special.num_warps = shape.warps;
  special.num_stages = 3;
  for (std::string name : {"q", "k", "v", "o"})
    special.arguments.push_back(frontend::parse_argument(name + "_ptr=*f16:16").value());
  special.arguments.push_back(frontend::parse_argument("lse_ptr=*f32:16").value());
  for (std::string name : {"qb", "qh", "qm", "kb", "kh", "kn", "vb", "vh", "vn", "ob", "oh", "om"})
    special.arguments.push_back(frontend::parse_argument("stride_" + name + "=i32:16").value());
  for (std::string argument : {"heads=i32", "length=i32", "scale=f32"})
    special.arguments.push_back(frontend::parse_argument(argument).value());
  auto constant = [&](const std::string& name, frontend::Constant value) {
    frontend::Argument argument;
    argument.name = name;
    argument.is_constant = true;
    argument.constant = std::move(value);
    special.arguments.push_back(std::move(argument));
  };
  constant("BLOCK_M", frontend::Constant::integer_of(shape.block_m));
  constant("BLOCK_N", frontend::Constant::integer_of(shape.block_n));
  constant("HEAD_DIM", frontend::Constant::integer_of(shape.dim));
  constant("CAUSAL", frontend::Constant::boolean(shape.causal));
  ir::Module module = frontend::lower(*program, "attention", special).value();
  passes::run_pipeline(module).value();
  cuda::Options options;
  options.line_info = true;
  options.sources = &program->sources();
  cuda::Source source = cuda::emit(module, target, options).value();
  cuda::Binary binary = cuda::compile(source, target, options).value();
  return make_report({module, source, binary, target, reference_card(target), program->sources()})
      .value();
}

const cuda::sass::Loop& loop_of(const Report& report) {
  for (const Part& part : report.parts)
    if (part.work.dots > 0 && !part.code.empty()) return part.code[0];
  throw std::runtime_error("no loop with a dot");
}

class Attention : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Attention,
                         testing::Values(Shape{64, 128, 64, 8, false, 2, 365},
                                         Shape{64, 128, 64, 8, true, 2, 370},
                                         Shape{64, 64, 64, 4, false, 2, 385},
                                         Shape{128, 128, 64, 8, false, 1, 500},
                                         Shape{128, 64, 32, 4, true, 2, 340}));

TEST_P(Attention, RegistersAndSlots) {
  if (!cuda::nvrtc_info().ok()) GTEST_SKIP() << cuda::nvrtc_info().error().message;
  for (const char* target : {"sm_80", "sm_89", "sm_90"}) {
    SCOPED_TRACE(target);
    Report report = build(GetParam(), *find_target(target));
    EXPECT_EQ(report.resources.spill_instructions, 0);
    EXPECT_GE(report.occupancy.blocks, GetParam().programs) << report.occupancy.bound;
    const cuda::sass::Loop& loop = loop_of(report);
    EXPECT_LE(loop.mix.total - loop.conditional, GetParam().slots) << to_text(report);
    EXPECT_GT(loop.conditional, loop.mix.by_name.at("FSEL")) << "whole tiles are masked";
  }
}

}  // namespace
}  // namespace tilewright::report
