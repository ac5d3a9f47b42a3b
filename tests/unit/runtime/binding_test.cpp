// Triton's rules for what a call specialises, and the errors of calls that do not fit.
#include "runtime/compile/binding.h"

#include "tests/unit/runtime/fixture.h"

namespace tilewright::runtime {
namespace {

struct Bound {
  std::string key;
  std::vector<uint64_t> slots;
};

Result<BoundCall> try_bind(const std::string& text, std::vector<Arg> positional,
                           std::vector<NamedArg> named_args = {}, CallOptions options = {}) {
  auto program = program_of(text);
  auto info = frontend::describe_kernel(*program, program->functions().front()).value();
  return bind_call(*program, info, positional, named_args, options);
}

// The specialised parameters, one a word: `n=i32:16`, `n=1` for constants.
std::string shape_of(const BoundCall& bound) {
  std::string out;
  for (const frontend::Argument& a : bound.specialization.arguments) {
    out += (out.empty() ? "" : " ") + a.name + "=";
    if (a.is_constant)
      out += frontend::to_string(a.constant);
    else
      out +=
          ir::to_string(a.type) + (a.divisibility > 1 ? ":" + std::to_string(a.divisibility) : "");
  }
  return out;
}

std::string bound_shape(const std::string& text, std::vector<Arg> positional,
                        std::vector<NamedArg> named_args = {}) {
  return shape_of(try_bind(text, std::move(positional), std::move(named_args)).value());
}

constexpr char kOne[] = R"(
@triton.jit
def k(a):
    pass
)";

TEST(Binding, IntegersTakeTheirTypeByValue) {
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{5})}), "a=i32");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{-2147483648})}), "a=i32:16");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{2147483649})}), "a=i64");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{1} << 40)}), "a=i64:16");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(~uint64_t{0})}), "a=u64");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{0})}), "a=i32:16");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{32})}), "a=i32:16");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{5000})}), "a=i32:8");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{-12})}), "a=i32:4");
  EXPECT_EQ(bound_shape(kOne, {Arg::integer(int64_t{1})}), "a=1");
}

TEST(Binding, OtherKinds) {
  EXPECT_EQ(bound_shape(kOne, {Arg::boolean(true)}), "a=i1");
  EXPECT_EQ(bound_shape(kOne, {Arg::real(1.0)}), "a=f32");
  EXPECT_EQ(bound_shape(kOne, {Arg::none()}), "a=None");
  EXPECT_EQ(bound_shape(kOne, {Arg::pointer(64, Dtype::kF16)}), "a=ptr<f16>:16");
  EXPECT_EQ(bound_shape(kOne, {Arg::pointer(72, Dtype::kF16)}), "a=ptr<f16>");
}

TEST(Binding, AnnotationsFixTypes) {
  constexpr char kText[] = R"(
@triton.jit
def k(a: tl.int64, b: tl.float16):
    pass
)";
  EXPECT_EQ(bound_shape(kText, {Arg::integer(int64_t{1}), Arg::integer(int64_t{2})}),
            "a=i64 b=f16");
  EXPECT_EQ(bound_shape(kText, {Arg::integer(int64_t{48}), Arg::real(2.0)}), "a=i64:16 b=f16");
  auto bound = try_bind(kText, {Arg::integer(int64_t{3}), Arg::real(1.5)}).value();
  EXPECT_EQ(slot_bits(bound.slots[0], bound.arguments[0]), 3u);
  EXPECT_EQ(slot_bits(bound.slots[1], bound.arguments[1]), 0x3e00u);
}

TEST(Binding, DoNotSpecialize) {
  constexpr char kText[] = R"(
@triton.jit(do_not_specialize=["a"])
def k(a, b):
    pass
)";
  EXPECT_EQ(bound_shape(kText, {Arg::integer(int64_t{1}), Arg::integer(int64_t{1})}), "a=i32 b=1");
  EXPECT_EQ(bound_shape(kText, {Arg::integer(int64_t{16}), Arg::integer(int64_t{16})}),
            "a=i32 b=i32:16");
}

TEST(Binding, NamedValuesAndDefaults) {
  constexpr char kText[] = R"(
@triton.jit
def k(x, n, BLOCK: tl.constexpr, SCALE: tl.constexpr = 2):
    pass
)";
  // A positional value goes to the next parameter that no name fills.
  EXPECT_EQ(bound_shape(kText, {Arg::pointer(64, Dtype::kF32), Arg::integer(int64_t{64})},
                        {named("n", 5)}),
            "x=ptr<f32>:16 n=i32 BLOCK=64");
  EXPECT_EQ(bound_shape(kText, {Arg::pointer(64, Dtype::kF32), Arg::integer(int64_t{5})},
                        {named("BLOCK", 64), named("SCALE", 3)}),
            "x=ptr<f32>:16 n=i32 BLOCK=64 SCALE=3");
  frontend::Constant text = frontend::Constant::string("relu");
  NamedArg relu{"BLOCK", {}, &text};
  EXPECT_EQ(bound_shape(kText, {Arg::none(), Arg::integer(int64_t{5})}, {relu}),
            "x=None n=i32 BLOCK='relu'");
  auto warps = try_bind(kText, {Arg::none(), Arg::integer(int64_t{5}), Arg::integer(int64_t{8})},
                        {named("num_warps", 8)});
  EXPECT_EQ(warps.value().specialization.num_warps, 8);
  auto bounded = try_bind(kText, {Arg::none(), Arg::integer(int64_t{5}), Arg::integer(int64_t{8})},
                          {named("maxnreg", 96)});
  EXPECT_EQ(bounded.value().specialization.maxnreg, 96);
}

TEST(Binding, HeuristicsRunOnTheValues) {
  constexpr char kText[] = R"(
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def k(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    pass
)";
  auto shape = [&](int64_t n) {
    return bound_shape(kText, {Arg::pointer(64, Dtype::kF32), Arg::integer(n)},
                       {named("BLOCK", 64)});
  };
  EXPECT_EQ(shape(65), "x=ptr<f32>:16 n=i32 BLOCK=64 EVEN=False");
  EXPECT_EQ(shape(128), "x=ptr<f32>:16 n=i32:16 BLOCK=64 EVEN=True");
}

void expect_error(const Result<BoundCall>& result, DiagKind kind, const std::string& text) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, kind) << result.error().text();
  EXPECT_NE(result.error().text().find(text), std::string::npos) << result.error().text();
}

TEST(Binding, ErrorsShowParameterExpectationAndValue) {
  constexpr char kText[] = R"(
@triton.jit
def k(x: '*fp16', n: tl.int32, BLOCK: tl.constexpr):
    pass
)";
  Arg x = Arg::pointer(64, Dtype::kF16), n = Arg::integer(int64_t{5}), block = n;
  expect_error(try_bind(kText, {x, n}), DiagKind::kMissingArgument,
               "kernel `k` needs a value for its constexpr parameter `BLOCK`");
  expect_error(try_bind(kText, {x, n}), DiagKind::kMissingArgument,
               "the kernel is k(x: ptr<f16>, n: i32, BLOCK: constexpr)");
  expect_error(try_bind(kText, {x, n, block, n}), DiagKind::kUnknownArgument,
               "kernel `k` takes 3 arguments, but 4 were given");
  expect_error(try_bind(kText, {x, n}, {named("BLOK", 1)}), DiagKind::kUnknownArgument,
               "kernel `k` has no parameter `BLOK`");
  expect_error(try_bind(kText, {x, n}, {named("BLOCK", 1), named("BLOCK", 1)}),
               DiagKind::kUnknownArgument, "parameter `BLOCK` of kernel `k` is given twice");
  expect_error(
      try_bind(kText, {Arg::pointer(64, Dtype::kF32), n, block}), DiagKind::kBadArgument,
      "parameter `x` of kernel `k` takes a pointer to f16, but was given a pointer to f32");
  expect_error(try_bind(kText, {n, n, block}), DiagKind::kBadArgument,
               "takes a pointer to f16, but was given the integer 5");
  expect_error(try_bind(kText, {x, Arg::real(1.5), block}), DiagKind::kBadArgument,
               "takes an integer (i32), but was given the number 1.5");
  expect_error(try_bind(kText, {x, Arg::integer(int64_t{1} << 40), block}), DiagKind::kBadArgument,
               "takes an integer (i32), but was given the integer 1099511627776");
  expect_error(try_bind(kText, {x, n, x}), DiagKind::kBadArgument,
               "parameter `BLOCK` of kernel `k` takes a constant, but was given a pointer to f16");
  expect_error(try_bind(kOne, {Arg::pointer(64)}), DiagKind::kBadArgument,
               "a pointer of known type");
  CallOptions warps;
  warps.num_warps = 3;
  expect_error(try_bind(kText, {x, n, block}, {}, warps), DiagKind::kBadLaunch,
               "num_warps is 3, but must be a power of two");
  CallOptions registers;
  registers.maxnreg = 256;
  expect_error(try_bind(kText, {x, n, block}, {}, registers), DiagKind::kBadLaunch,
               "maxnreg is 256, but must be 1 to 255");
  frontend::Constant text = frontend::Constant::string("a");
  expect_error(try_bind(kText, {x, block}, {NamedArg{"n", {}, &text}}), DiagKind::kBadArgument,
               "takes a run-time value, but was given 'a'");
}

}  // namespace
}  // namespace tilewright::runtime
