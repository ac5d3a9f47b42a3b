// Construction by hand, and what the verifier says about modules that no text can express.
#include <gtest/gtest.h>

#include "codegen/ir/builder.h"
#include "codegen/passes/passes.h"
#include "dsl/base/check.h"

namespace tilewright::ir {
namespace {

// kernel @k(%x: f32) { body; return }, the body by `fill`.
template <class F>
Module kernel(F fill) {
  Module module;
  module.name = "k";
  module.body = module.add_region({});
  module.params.push_back({"x", 1});
  ValueId x = module.add_region_arg(module.body, Type::scalar(Dtype::kF32), "x");
  Builder builder(module);
  builder.set_region(module.body);
  fill(builder, x);
  builder.make_op(Op::Return, {}, {}, {});
  return module;
}

TEST(Builder, InfersTypesAndRefusesNonsense) {
  Module module = kernel([](Builder& b, ValueId x) {
    ValueId c = b.make(Op::Cmp, {x, x}, {{"pred", std::string("lt")}});
    EXPECT_EQ(b.module().type(c), Type::scalar(Dtype::kI1));
    EXPECT_THROW(b.make(Op::Add, {x, c}), InternalError);
    EXPECT_THROW(b.make(Op::Splat, {x}), InternalError) << "the type must be given";
    EXPECT_THROW(b.constant_int(Type::scalar(Dtype::kF32), 1), InternalError);
  });
  EXPECT_TRUE(verify(module).ok());
}

TEST(Builder, LoopsHaveTheirArguments) {
  Module module = kernel([](Builder& b, ValueId x) {
    ValueId n = b.constant_int(Type::scalar(Dtype::kI32), 4);
    OpId loop = b.make_for(n, n, n, {x});
    RegionId outer = b.region(), body = b.module().op(loop).regions[0];
    b.set_region(body);
    b.yield({b.module().region(body).args[1]});
    b.set_region(outer);
    OpId branch = b.make_if(b.constant_int(Type::scalar(Dtype::kI1), 1), {});
    for (RegionId region : std::vector(b.module().op(branch).regions)) {
      b.set_region(region);
      b.yield({});
    }
    b.set_region(outer);
  });
  Status status = verify(module);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST(Module, ReplacingUsesReachesNestedRegions) {
  Module module = kernel([](Builder& b, ValueId x) {
    ValueId y = b.make(Op::Neg, {x});
    OpId branch = b.make_if(b.constant_int(Type::scalar(Dtype::kI1), 1), {});
    RegionId outer = b.region();
    for (RegionId region : std::vector(b.module().op(branch).regions)) {
      b.set_region(region);
      b.make(Op::Abs, {y});
      b.yield({});
    }
    b.set_region(outer);
    b.module().replace_uses(y, x);
  });
  EXPECT_NE(print(module).find("abs %x"), std::string::npos);
  EXPECT_TRUE(verify(module).ok());
}

TEST(Module, CompactionDropsWhatNothingReaches) {
  Module module = kernel([](Builder& b, ValueId x) {
    b.make(Op::Neg, {x});
    b.module().add_op(Op::Neg, {}, {x}, {}, {Type::scalar(Dtype::kF32)});
  });
  std::string text = print(module);
  EXPECT_EQ(module.op_count(), 3u);
  module.compact();
  EXPECT_EQ(module.op_count(), 2u);
  EXPECT_EQ(print(module), text);
}

// Each change breaks one rule of storage; the error is plain, without a listing.
TEST(Verify, StorageRules) {
  auto broken = [](auto change) {
    Module module = kernel([](Builder& b, ValueId x) { b.make(Op::Neg, {x}); });
    change(module, module.region(module.body).ops[0]);
    Status status = verify(module);
    return status.ok() ? "" : status.error().message;
  };
  const std::string prefix = "the module is inconsistent: ";
  EXPECT_EQ(broken([](Module& m, OpId op) { m.op(op).operands[0] = ValueId{99}; }),
            prefix + "a value id is out of range");
  EXPECT_EQ(broken([](Module& m, OpId) { m.region(m.body).ops.push_back(OpId{99}); }),
            prefix + "an op id is out of range");
  EXPECT_EQ(broken([](Module& m, OpId op) { m.region(m.body).ops.push_back(op); }),
            prefix + "an op is in two places");
  EXPECT_EQ(broken([](Module& m, OpId op) { m.op(op).parent = {}; }),
            prefix + "an op does not know its region");
  EXPECT_EQ(broken([](Module& m, OpId op) { m.op(op).regions.push_back(m.body); }),
            prefix + "a region is in two places");
  EXPECT_EQ(broken([](Module& m, OpId op) { m.value(m.op(op).results[0]).position = 3; }),
            prefix + "a result does not know its op");
  EXPECT_EQ(
      broken([](Module& m, OpId op) { m.region(m.body).args.push_back(m.op(op).results[0]); }),
      prefix + "a region argument does not know its region");
  EXPECT_EQ(broken([](Module& m, OpId op) { m.op(op).regions.push_back(RegionId{7}); }),
            prefix + "a region id is out of range");
  EXPECT_EQ(broken([](Module& m, OpId op) {
              RegionId region = m.add_region({});
              m.op(op).regions.push_back(region);
            }),
            prefix + "a region does not know its op");
  EXPECT_EQ(broken([](Module& m, OpId) { m.body = {}; }), prefix + "it has no body");
  EXPECT_EQ(broken([](Module& m, OpId) { m.params.clear(); }),
            "the kernel has 0 parameters, but 1 arguments of its body");
}

TEST(Pipeline, ShowsEachPassThatChangedSomething) {
  Module module = kernel([](Builder& b, ValueId x) {
    ValueId product = b.make(Op::Mul, {x, x});
    b.make(Op::Add, {product, x});
  });
  std::vector<std::string> seen;
  passes::PipelineOptions options;
  options.observe = [&](std::string_view pass, const Module& m) {
    EXPECT_TRUE(verify(m).ok());
    seen.emplace_back(pass);
  };
  ASSERT_TRUE(passes::run_pipeline(module, options).ok());
  EXPECT_EQ(seen, std::vector<std::string>{"dce"}) << "nothing is stored";
}

}  // namespace
}  // namespace tilewright::ir
