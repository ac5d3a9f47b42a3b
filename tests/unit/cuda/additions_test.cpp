// Atomic additions whose old values nobody wants: several neighbours in one access where the
// target, the addresses and the mask allow it.
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

struct Case {
  Dtype dtype;
  const char* target;
  int vector;  // expected
};

// sums[0 … 1023] += x, up to `limit` (a multiple of 8) if masked.
Comparison addition(const Case& c, int warps, bool masked, bool aligned, const char* use = "") {
  std::string t(dtype_name(c.dtype));
  Comparison comparison;
  comparison.target = c.target;
  comparison.ir = "kernel @k(%x: ptr<" + t + "> {div=16}, %sums: ptr<" + t + ">" +
                  (aligned ? " {div=16}" : "") +
                  ", %limit: i32 {div=16}) attributes {num_warps=" + std::to_string(warps) + R"(} {
  %i: tile<1024xi32> = arange {end=1024, start=0}
  %xs: tile<1024xptr<T>> = splat %x
  %xp: tile<1024xptr<T>> = ptr_add %xs, %i
  %v: tile<1024xT> = load %xp
  %ss: tile<1024xptr<T>> = splat %sums
  %sp: tile<1024xptr<T>> = ptr_add %ss, %i
  %ls: tile<1024xi32> = splat %limit
  %mask: tile<1024xi1> = cmp %i, %ls {pred=lt}
  %old: tile<1024xT> = atomic_rmw %sp, %v)" +
                  (masked ? ", %mask" : "") + " {op=add, sem=relaxed}\n" + use + "  return\n}\n";
  for (size_t at; (at = comparison.ir.find("xT>")) != std::string::npos;)
    comparison.ir.replace(at + 1, 1, t);
  for (size_t at; (at = comparison.ir.find("ptr<T>")) != std::string::npos;)
    comparison.ir.replace(at + 4, 1, t);
  comparison.arguments = {small_integers(c.dtype, 1024, -9, 9, 1),
                          small_integers(c.dtype, 1024, -9, 9, 2), scalar(Dtype::kI32, 592)};
  return comparison;
}

int vector_in(const Comparison& comparison) {
  std::string text = comparison.source().value().text;
  size_t at = text.find("tw_red_add<TW_GPU, ");
  return at == text.npos ? 1 : text[at + 19] - '0';
}

class Additions : public testing::TestWithParam<Case> {};

TEST_P(Additions, TakeAsManyNeighboursAsTheTargetAdds) {
  const Case& c = GetParam();
  for (bool masked : {false, true}) {
    Comparison comparison = addition(c, 4, masked, true);
    EXPECT_EQ(vector_in(comparison), c.vector) << comparison.source().value().text;
    comparison.check();
    comparison.compiles({c.target});
  }
  addition(c, 1, true, true).check();
}

TEST_P(Additions, OneByOneWhereAddressesOrUsersForbidIt) {
  const Case& c = GetParam();
  Comparison unaligned = addition(c, 4, true, false);
  EXPECT_EQ(vector_in(unaligned), 1);
  unaligned.check();
  Comparison used = addition(c, 4, true, true, "  store %xp, %old\n");
  EXPECT_EQ(vector_in(used), 1);
  used.check();
}

INSTANTIATE_TEST_SUITE_P(
    Types, Additions,
    testing::Values(Case{Dtype::kF32, "sm_90", 4}, Case{Dtype::kF32, "sm_89", 1},
                    Case{Dtype::kF16, "sm_90", 8}, Case{Dtype::kF16, "sm_75", 2},
                    Case{Dtype::kBF16, "sm_120", 8}, Case{Dtype::kBF16, "sm_89", 1},
                    Case{Dtype::kI32, "sm_90", 1}, Case{Dtype::kF64, "sm_90", 1}),
    [](const auto& info) {
      return std::string(dtype_name(info.param.dtype)) + "_" + info.param.target;
    });

}  // namespace
}  // namespace tilewright::cuda
