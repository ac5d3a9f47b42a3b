// What skip_masks makes of a mask, at and beyond the ends of its type, where sums wrap: the same to
// the bit as the select, whatever the scalars are; and whole tiles do take the branch.
#include <gtest/gtest.h>

#include "codegen/interp/interp.h"
#include "codegen/passes/passes.h"

namespace tilewright::passes {
namespace {

// The sides of a comparison, from scalars %as and %bs and the columns %c, 0 … 15.
struct Comparison {
  const char* left;
  const char* right;
};
constexpr Comparison kComparisons[] = {
    {"add %as, %c", "add %bs, %no"},   {"add %as, %no", "add %bs, %c"},
    {"add %as, %c", "add %bs, %c"},    {"sub %as, %c", "add %bs, %no"},
    {"add %as, %no", "sub %bs, %c"},   {"add %c, %as", "sub %c, %bs"},
    {"sub %three, %c", "add %bs, %c"}, {"add %as, %c", "add %three, %no"},
};

std::string kernel(const Comparison& comparison, const std::string& pred) {
  return std::string("kernel @k(%out: ptr<i32>, %a: i32, %b: i32) attributes {num_warps=1} {\n") +
         "  %zero: i32 = const {value=0}\n"
         "  %one: i32 = const {value=1}\n"
         "  %c: tile<16xi32> = arange {start=0, end=16}\n"
         "  %as: tile<16xi32> = splat %a\n"
         "  %bs: tile<16xi32> = splat %b\n"
         "  %three: tile<16xi32> = const {value=3}\n"
         "  %f: tile<16x16xf16> = const {value=1.0}\n"
         "  %sum0: tile<16x16xf32> = const {value=0.0}\n"
         "  %no: tile<16xi32> = const {value=0}\n"
         "  %yes: tile<16xi32> = const {value=1}\n"
         "  %got: tile<16xi32>, %sum: tile<16x16xf32> = for %zero, %one, %one, %no, %sum0 "
         "region(%i: i32, %g: tile<16xi32>, %s: tile<16x16xf32>) {\n"
         "    %d: tile<16x16xf32> = dot %f, %f, %s\n"
         "    %left: tile<16xi32> = " +
         comparison.left +
         "\n"
         "    %right: tile<16xi32> = " +
         comparison.right +
         "\n"
         "    %m: tile<16xi1> = cmp %left, %right {pred=" +
         pred +
         "}\n"
         "    %q: tile<16xi32> = select %m, %yes, %g\n"
         "    yield %q, %d\n"
         "  }\n"
         "  %p: tile<16xptr<i32>> = splat %out\n"
         "  %at: tile<16xptr<i32>> = ptr_add %p, %c\n"
         "  store %at, %got\n"
         "  return\n"
         "}\n";
}

std::vector<int32_t> run(const ir::Module& module, int32_t a, int32_t b) {
  std::vector<int32_t> out(16, -1);
  std::vector<uint64_t> arguments = {reinterpret_cast<uint64_t>(out.data()),
                                     static_cast<uint32_t>(a), static_cast<uint32_t>(b)};
  Status status = interp::run(module, {{1, 1, 1}, arguments}, {});
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().text());
  return out;
}

// The branch's condition for these scalars: the select is replaced by one of other values.
bool skips(ir::Module module, int32_t a, int32_t b) {
  ir::walk(module, module.body, [&](ir::OpId id) {
    ir::OpNode& op = module.op(id);
    if (op.op == ir::Op::Select) std::swap(op.operands[1], op.operands[2]);
  });
  return run(module, a, b)[0] == 1;
}

TEST(SkipMasks, AgreesWithTheSelectEverywhere) {
  std::vector<int32_t> numbers;
  for (int64_t around : {int64_t{INT32_MIN}, int64_t{0}, int64_t{INT32_MAX}})
    for (int64_t d : {-16, -15, -3, -1, 0, 1, 3, 13, 15, 16})
      if (around + d >= INT32_MIN && around + d <= INT32_MAX)
        numbers.push_back(static_cast<int32_t>(around + d));
  for (const Comparison& comparison : kComparisons)
    for (const char* pred : {"lt", "le", "gt", "ge"}) {
      std::string text = kernel(comparison, pred);
      SCOPED_TRACE(text);
      ir::Module module = ir::parse("k.ir", text).value();
      ASSERT_TRUE(ir::verify(module).ok()) << ir::verify(module).error().text();
      ir::Module branched = module;
      ASSERT_TRUE(skip_masks(branched));
      ASSERT_TRUE(ir::verify(branched).ok()) << ir::verify(branched).error().text();
      int taken = 0;
      for (int32_t a : numbers)
        for (int32_t b : numbers) {
          ASSERT_EQ(run(branched, a, b), run(module, a, b)) << a << " " << b;
          taken += skips(branched, a, b);
        }
      EXPECT_GT(taken, 0);
      std::string once = ir::print(branched);
      skip_masks(branched);
      EXPECT_EQ(ir::print(branched), once) << "the pass is not idempotent";
    }
}

}  // namespace
}  // namespace tilewright::passes
