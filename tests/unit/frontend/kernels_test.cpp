// The kernels of kernels_lib lower for a representative specialisation, stay well-formed through
// the pipeline, and print text that reads back the same.
#include <fstream>
#include <iterator>

#include "tests/unit/frontend/harness.h"

namespace tilewright::frontend {
namespace {

struct KernelCase {
  const char* folder;
  const char* kernel;
  std::vector<std::string> arguments;  // x=*f16, n=i32, s=i32=1, or B:=64 for a constexpr
};

std::vector<KernelCase> cases() {
  return {
      {"vector_add",
       "vector_add",
       {"x_ptr=*f32:16", "y_ptr=*f32:16", "z_ptr=*f32:16", "n=i32", "BLOCK:=1024"}},
      {"softmax",
       "softmax",
       {"x_ptr=*f16:16", "y_ptr=*f16:16", "x_stride=i32", "y_stride=i32", "cols=i32",
        "BLOCK:=1024"}},
      {"matmul",
       "matmul",
       {"a_ptr=*bf16:16", "b_ptr=*bf16:16", "c_ptr=*bf16:16", "M=i32", "N=i32", "K=i32",
        "stride_am=i32:16", "stride_ak=i32=1", "stride_bk=i32:16", "stride_bn=i32=1",
        "stride_cm=i32:16", "stride_cn=i32=1", "BLOCK_M:=64", "BLOCK_N:=64", "BLOCK_K:=32",
        "GROUP_M:=8", "ACTIVATION:=leaky_relu"}},
      {"layer_norm",
       "layer_norm_forward",
       {"x_ptr=*f16", "y_ptr=*f16", "w_ptr=*f16", "b_ptr=*f16", "mean_ptr=*f32", "rstd_ptr=*f32",
        "stride=i32", "cols=i32", "eps=f32", "BLOCK:=256"}},
      {"layer_norm",
       "layer_norm_backward_dx",
       {"dx_ptr=*f16", "dy_ptr=*f16", "dw_part_ptr=*f32", "db_part_ptr=*f32", "x_ptr=*f16",
        "w_ptr=*f16", "mean_ptr=*f32", "rstd_ptr=*f32", "lock_ptr=*i32", "stride=i32", "cols=i32",
        "GROUPS:=64", "BLOCK:=256"}},
      {"layer_norm",
       "layer_norm_backward_dwdb",
       {"dw_part_ptr=*f32", "db_part_ptr=*f32", "dw_ptr=*f16", "db_ptr=*f16", "groups=i32",
        "cols=i32", "BLOCK_M:=32", "BLOCK_N:=64"}},
      {"dropout",
       "dropout",
       {"x_ptr=*f32:16", "y_ptr=*f32:16", "n=i32", "p=f32", "seed=i32", "BLOCK:=1024"}},
      {"attention",
       "attention",
       {"q_ptr=*f16:16", "k_ptr=*f16:16", "v_ptr=*f16:16", "o_ptr=*f16:16", "lse_ptr=*f32",
        "stride_qb=i32", "stride_qh=i32", "stride_qm=i32", "stride_kb=i32", "stride_kh=i32",
        "stride_kn=i32", "stride_vb=i32", "stride_vh=i32", "stride_vn=i32", "stride_ob=i32",
        "stride_oh=i32", "stride_om=i32", "heads=i32",     "length=i32",    "scale=f32",
        "BLOCK_M:=64",   "BLOCK_N:=32",   "HEAD_DIM:=64",  "CAUSAL:=True"}},
      {"conv2d",
       "conv2d",
       {"x_ptr=*f16:16",
        "w_ptr=*f16:16",
        "bias_ptr=*f16:16",
        "y_ptr=*f16:16",
        "batch=i32",
        "height=i32",
        "width=i32",
        "channels=i32",
        "filters=i32",
        "out_h=i32",
        "out_w=i32",
        "stride_h=i32=1",
        "stride_w=i32=1",
        "pad_h=i32=1",
        "pad_w=i32=1",
        "dilation_h=i32=1",
        "dilation_w=i32=1",
        "R:=3",
        "S:=3",
        "BLOCK_M:=64",
        "BLOCK_N:=64",
        "BLOCK_K:=32"}},
  };
}

TEST(Kernels, LowerThroughThePipeline) {
  for (const KernelCase& kernel : cases()) {
    std::string path =
        std::string(TILEWRIGHT_SOURCE_DIR) + "/kernels_lib/" + kernel.folder + "/kernel.py";
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    auto program = Program::load(path, text);
    ASSERT_TRUE(program.ok()) << program.error().text();
    Specialization specialization;
    for (const std::string& word : kernel.arguments) {
      size_t assign = word.find(":=");
      if (assign == word.npos) {
        specialization.arguments.push_back(parse_argument(word).value());
        continue;
      }
      Argument& argument = specialization.arguments.emplace_back();
      argument.name = word.substr(0, assign);
      argument.is_constant = true;
      argument.constant = parse_constant(word.substr(assign + 2)).value();
    }
    auto module = lower(**program, kernel.kernel, specialization);
    ASSERT_TRUE(module.ok()) << kernel.kernel << "\n" << module.error().text();
    auto read_back = ir::parse("printed", ir::print(*module));
    ASSERT_TRUE(read_back.ok()) << read_back.error().text();
    EXPECT_EQ(ir::print(*read_back), ir::print(*module)) << kernel.kernel;
    passes::PipelineOptions options;
    options.verify_each = true;
    Status status = passes::run_pipeline(*module, options);
    EXPECT_TRUE(status.ok()) << kernel.kernel << "\n" << status.error().text();
  }
}

}  // namespace
}  // namespace tilewright::frontend
