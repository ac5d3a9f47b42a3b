// Layouts of scheduled IR: slots of buffers, tiles that stay in them, vectors loaded an iteration
// ahead.
#include "codegen/cuda/layouts.h"
#include "codegen/schedule/schedule.h"
#include "tests/unit/assign/check.h"
#include "tests/unit/assign/kernels.h"

namespace tilewright::cuda {
namespace {

struct Scheduled {
  ir::Module module;
  LayoutAssignment layouts;
  int in_loops = 0;
};

Scheduled scheduled(const KernelCase& kernel, int warps, const char* target = "sm_80") {
  Scheduled result{lower_kernel(kernel, warps), {}};
  result.module.attrs.set("num_stages", int64_t{3});
  schedule::schedule(result.module, *find_target(target));
  result.layouts = assign_layouts(result.module, *find_target(target)).value();
  AssignmentChecker checker(result.module, result.layouts, *find_target(target));
  checker.run();
  result.in_loops = checker.conversions_in_loops;
  return result;
}

KernelCase library_kernel(const std::string& name) {
  for (const KernelCase& kernel : library_kernels())
    if (kernel.kernel == name) return kernel;
  ADD_FAILURE() << name;
  return {};
}

KernelCase matmul_of(const std::string& operand, const std::string& sums, bool a_k_major,
                     bool b_k_major) {
  return {"matmul",
          "matmul",
          {"a_ptr=*" + operand + ":16", "b_ptr=*" + operand + ":16", "c_ptr=*" + sums + ":16",
           "M=i32:16", "N=i32:16", "K=i32:16", a_k_major ? "stride_am=i32:16" : "stride_am=i32=1",
           a_k_major ? "stride_ak=i32=1" : "stride_ak=i32:16",
           b_k_major ? "stride_bk=i32=1" : "stride_bk=i32:16",
           b_k_major ? "stride_bn=i32:16" : "stride_bn=i32=1", "stride_cm=i32:16",
           "stride_cn=i32=1", "BLOCK_M==64", "BLOCK_N==64", "BLOCK_K==64", "GROUP_M==8",
           "ACTIVATION==None", "ACC==" + sums}};
}

// The operands never leave their slots, so nothing moves between threads in the loop.
TEST(Buffers, OperandsOfDotsStayInTheirSlots) {
  for (const char* kernel : {"matmul", "attention"})
    for (int warps : {1, 4, 8}) {
      Scheduled s = scheduled(library_kernel(kernel), warps);
      EXPECT_EQ(s.layouts.buffers.size(), 2u) << kernel;
      EXPECT_EQ(s.layouts.lazy_loads.size(), 2u) << kernel;
      for (const auto& [buffer, shared] : s.layouts.buffers)
        EXPECT_EQ(shared.shape, s.module.type(buffer).slot().shape);
      if (std::string(kernel) == "matmul") {
        EXPECT_EQ(s.in_loops, 0);
      }
    }
}

// Copies are whole vectors of 16 bytes.
TEST(Buffers, CopiesAreWide) {
  Scheduled s = scheduled(library_kernel("matmul"), 4);
  int copies = 0;
  ir::walk(s.module, s.module.body, [&](ir::OpId id) {
    if (s.module.op(id).op != ir::Op::CopyAsync) return;
    ++copies;
    EXPECT_EQ(s.layouts.vectors.at(id), 8);
  });
  EXPECT_EQ(copies, 6);  // two before the loop and one in it, of each operand
}

// A vector that is loaded an iteration ahead and then broadcast lives where it is used.
TEST(Buffers, ScalesLoadedAheadLieAsTheSumDoes) {
  KernelCase kernel{
      "matmul_int4",
      "matmul_int4",
      {"a_ptr=*f16:16", "packed_ptr=*i16:16", "scale_ptr=*f16:16", "out_ptr=*f32:16", "M=i32",
       "N=i32:16", "K=i32:16", "stride_am=i32:16", "stride_pb=i32:16", "stride_pn=i32:16",
       "stride_sg=i32:16", "BLOCK_M==16", "BLOCK_N==64", "ATOMIC==False"}};
  Scheduled s = scheduled(kernel, 4);
  EXPECT_EQ(s.in_loops, 0) << to_string(s.module, s.layouts);
}

// Every warp along M would unpack the same weights again; and the scales of a step lie in a buffer
// of their own, read in the layout of the sum they are multiplied with.
TEST(Buffers, WarpsGoAlongTheSideThatIsUnpacked) {
  KernelCase kernel{
      "matmul_int4",
      "matmul_int4",
      {"a_ptr=*f16:16", "packed_ptr=*i16:16", "scale_ptr=*f16:16", "out_ptr=*f32:16", "M=i32",
       "N=i32:16", "K=i32:16", "stride_am=i32:16", "stride_pb=i32:16", "stride_pn=i32:16",
       "stride_sg=i32:16", "BLOCK_M==32", "BLOCK_N==128", "ATOMIC==False"}};
  Scheduled s = scheduled(kernel, 8);
  for (const auto& [id, plan] : s.layouts.dots) EXPECT_EQ(plan.tiling.warps_n, 8);
  EXPECT_EQ(s.in_loops, 0) << to_string(s.module, s.layouts);
  int vectors = 0;
  ir::walk(s.module, s.module.body, [&](ir::OpId id) {
    const ir::OpNode& op = s.module.op(id);
    vectors += op.op == ir::Op::SharedLoad && s.module.type(op.results[0]).rank() == 1;
  });
  EXPECT_EQ(vectors, 2);
}

TEST(Buffers, OperandsThatAreNotContiguousAlongKAreInterleaved) {
  for (bool a : {true, false})
    for (bool b : {true, false})
      for (auto [operand, sums, of_b] : {std::tuple{"i8", "i32", true}, {"f32", "f32", false}}) {
        Scheduled s = scheduled(matmul_of(operand, sums, a, b), 4);
        const layout::MmaTiling& tiling = s.layouts.dots.begin()->second.tiling;
        EXPECT_EQ(tiling.interleaved_m, !a) << operand;
        EXPECT_EQ(tiling.interleaved_n, of_b && !b) << operand;
      }
  const layout::MmaTiling tiling =
      scheduled(library_kernel("matmul"), 4).layouts.dots.begin()->second.tiling;
  EXPECT_FALSE(tiling.interleaved_m || tiling.interleaved_n);  // 16-bit elements need it not
}

}  // namespace
}  // namespace tilewright::cuda
