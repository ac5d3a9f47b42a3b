// The kernels of kernels_lib, lowered for typical arguments.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "codegen/passes/passes.h"
#include "frontend/frontend.h"

namespace tilewright {

struct KernelCase {
  std::string file, kernel;
  std::vector<std::string> arguments;  // as on the command line: x=*f16:16, BLOCK==128
};

inline ir::Module lower_kernel(const KernelCase& c, int warps) {
  std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/kernels_lib/" + c.file + "/kernel.py";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto program = frontend::Program::load(path, text.str()).value();
  frontend::Specialization s;
  s.num_warps = warps;
  for (const std::string& argument : c.arguments) {
    size_t constant = argument.find("==");
    if (constant == argument.npos) {
      s.arguments.push_back(frontend::parse_argument(argument).value());
      continue;
    }
    frontend::Argument& a = s.arguments.emplace_back();
    a.name = argument.substr(0, constant);
    a.is_constant = true;
    a.constant = frontend::parse_constant(argument.substr(constant + 2)).value();
  }
  ir::Module module = frontend::lower(*program, c.kernel, s).value();
  passes::run_pipeline(module).value();
  return module;
}

inline std::vector<KernelCase> library_kernels(const std::string& dtype = "f16") {
  std::string p = "=*" + dtype + ":16";
  return {
      {"vector_add",
       "vector_add",
       {"x_ptr" + p, "y_ptr" + p, "z_ptr" + p, "n=i32:16", "BLOCK==1024"}},
      {"softmax",
       "softmax",
       {"x_ptr" + p, "y_ptr" + p, "x_stride=i32:16", "y_stride=i32:16", "cols=i32:16",
        "BLOCK==1024"}},
      {"matmul",
       "matmul",
       {"a_ptr" + p, "b_ptr" + p, "c_ptr" + p, "M=i32:16", "N=i32:16", "K=i32:16",
        "stride_am=i32:16", "stride_ak=i32=1", "stride_bk=i32:16", "stride_bn=i32=1",
        "stride_cm=i32:16", "stride_cn=i32=1", "BLOCK_M==128", "BLOCK_N==128", "BLOCK_K==32",
        "GROUP_M==8", "ACTIVATION==leaky_relu", "ACC==f32"}},
      {"layer_norm",
       "layer_norm_forward",
       {"x_ptr" + p, "y_ptr" + p, "w_ptr" + p, "b_ptr" + p, "mean_ptr=*f32:16", "rstd_ptr=*f32:16",
        "stride=i32:16", "cols=i32:16", "eps=f32", "BLOCK==1024"}},
      {"layer_norm",
       "layer_norm_backward_dx",
       {"dx_ptr" + p, "dy_ptr" + p, "dw_part_ptr=*f32:16", "db_part_ptr=*f32:16", "x_ptr" + p,
        "w_ptr" + p, "mean_ptr=*f32:16", "rstd_ptr=*f32:16", "lock_ptr=*i32:16", "stride=i32:16",
        "cols=i32:16", "GROUPS==64", "BLOCK==1024"}},
      {"layer_norm",
       "layer_norm_backward_dwdb",
       {"dw_part_ptr=*f32:16", "db_part_ptr=*f32:16", "dw_ptr" + p, "db_ptr" + p, "groups=i32:16",
        "cols=i32:16", "BLOCK_M==32", "BLOCK_N==128"}},
      {"dropout",
       "dropout",
       {"x_ptr" + p, "y_ptr" + p, "n=i32:16", "p=f32", "seed=i32", "BLOCK==1024"}},
      {"attention",
       "attention",
       {"q_ptr" + p,        "k_ptr" + p,        "v_ptr" + p,        "o_ptr" + p,
        "lse_ptr=*f32:16",  "stride_qb=i32:16", "stride_qh=i32:16", "stride_qm=i32:16",
        "stride_kb=i32:16", "stride_kh=i32:16", "stride_kn=i32:16", "stride_vb=i32:16",
        "stride_vh=i32:16", "stride_vn=i32:16", "stride_ob=i32:16", "stride_oh=i32:16",
        "stride_om=i32:16", "heads=i32",        "length=i32:16",    "scale=f32",
        "BLOCK_M==128",     "BLOCK_N==64",      "HEAD_DIM==64",     "CAUSAL==True"}},
      {"conv2d", "conv2d", {"x_ptr" + p,        "w_ptr" + p,   "bias_ptr" + p, "y_ptr" + p,
                            "batch=i32",        "height=i32",  "width=i32",    "channels=i32:16",
                            "filters=i32:16",   "out_h=i32",   "out_w=i32",    "stride_h=i32=1",
                            "stride_w=i32=1",   "pad_h=i32=1", "pad_w=i32=1",  "dilation_h=i32=1",
                            "dilation_w=i32=1", "R==3",        "S==3",         "BLOCK_M==64",
                            "BLOCK_N==64",      "BLOCK_K==32"}},
  };
}

}  // namespace tilewright
