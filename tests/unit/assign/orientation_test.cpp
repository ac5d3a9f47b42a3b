// Which dots are computed transposed, and that the program stays valid.
#include "codegen/cuda/orientation.h"

#include <gtest/gtest.h>

#include "codegen/ir/module.h"
#include "tests/unit/assign/kernels.h"

namespace tilewright::cuda {
namespace {

// The shape of the only dot's result, of a tile of 64x32, after orient_dots.
ir::Shape oriented(const std::string& operand, bool a_k_major, bool b_k_major,
                   const char* target = "sm_80") {
  ir::Module module = lower_kernel(
      {"matmul",
       "matmul",
       {"a_ptr=*" + operand + ":16", "b_ptr=*" + operand + ":16", "c_ptr=*f32:16", "M=i32:16",
        "N=i32:16", "K=i32:16", a_k_major ? "stride_am=i32:16" : "stride_am=i32=1",
        a_k_major ? "stride_ak=i32=1" : "stride_ak=i32:16",
        b_k_major ? "stride_bk=i32=1" : "stride_bk=i32:16",
        b_k_major ? "stride_bn=i32:16" : "stride_bn=i32=1", "stride_cm=i32:16", "stride_cn=i32=1",
        "BLOCK_M==64", "BLOCK_N==32", "BLOCK_K==16", "GROUP_M==8"}},
      4);
  orient_dots(module, *find_target(target));
  EXPECT_TRUE(ir::verify(module).ok());
  ir::Shape shape;
  ir::walk(module, module.body, [&](ir::OpId id) {
    if (module.op(id).op == ir::Op::Dot) shape = module.type(module.op(id).results[0]).shape;
  });
  return shape;
}

const ir::Shape kAsWritten = {64, 32}, kTransposed = {32, 64};

TEST(Orientation, WordsContiguousAlongNTakeThePlaceOfA) {
  EXPECT_EQ(oriented("f32", true, false), kTransposed);
  EXPECT_EQ(oriented("f32", true, true), kAsWritten) << "ldmatrix reads both";
  EXPECT_EQ(oriented("f32", false, true), kAsWritten) << "A is where it should be";
  EXPECT_EQ(oriented("f32", false, false), kAsWritten) << "A is as badly off";
  EXPECT_EQ(oriented("f16", true, false), kAsWritten) << "ldmatrix.trans reads 16 bits";
  EXPECT_EQ(oriented("f32", true, false, "sm_75"), kAsWritten) << "no TF32";
}

}  // namespace
}  // namespace tilewright::cuda
