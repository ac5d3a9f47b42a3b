// Arguments, constants and specialisations as text; what a program holds.
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace tilewright::frontend {
namespace {

TEST(Signature, ArgumentsOfTheCommandLine) {
  Argument x = parse_argument("x=*bf16:16").value();
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, ir::Type::pointer(Dtype::kBF16));
  EXPECT_EQ(x.divisibility, 16);
  EXPECT_FALSE(x.is_constant);
  Argument n = parse_argument("n=i32").value();
  EXPECT_EQ(n.type, ir::Type::scalar(Dtype::kI32));
  EXPECT_EQ(n.divisibility, 1);
  for (int divisor : {2, 4, 8, 16})
    EXPECT_EQ(parse_argument("n=i64:" + std::to_string(divisor)).value().divisibility, divisor);
  Argument one = parse_argument("n=i32=1").value();
  EXPECT_TRUE(one.is_constant);
  EXPECT_EQ(one.constant, Constant::integer_of(1));
  EXPECT_TRUE(parse_argument("bias=None").value().is_constant);
  for (const char* bad : {"", "x", "=i32", "x=", "x=i3", "x=*", "x=i32:3", "x=i32:32", "x=*f32:8",
                          "x=i32=2", "x=*f32=1", "x=f32:16", "x=i32:", "x=i32:16:16"}) {
    auto argument = parse_argument(bad);
    ASSERT_FALSE(argument) << bad;
    EXPECT_EQ(argument.error().kind, DiagKind::kBadArgument);
    EXPECT_FALSE(argument.error().hint.empty());
  }
}

TEST(Signature, DivisibilityIsToldUpTo16) {
  const std::pair<int64_t, int64_t> classes[] = {
      {0, 16},   {1, 1},    {2, 2},   {4, 4},  {6, 2},
      {8, 8},    {12, 4},   {16, 16}, {24, 8}, {48, 16},
      {1003, 1}, {5000, 8}, {-8, 8},  {-3, 1}, {int64_t{1} << 40, 16}};
  for (auto [value, divisor] : classes)
    EXPECT_EQ(divisibility_class(static_cast<uint64_t>(value)), divisor) << value;
}

TEST(Signature, ConstantsOfTheCommandLine) {
  EXPECT_EQ(parse_constant("1024").value(), Constant::integer_of(1024));
  EXPECT_EQ(parse_constant("-3").value(), Constant::integer_of(-3));
  EXPECT_EQ(parse_constant("0x10").value(), Constant::integer_of(16));
  EXPECT_EQ(parse_constant("1.5").value(), Constant::real(1.5));
  EXPECT_EQ(parse_constant("True").value(), Constant::boolean(true));
  EXPECT_EQ(parse_constant("None").value(), Constant::none());
  EXPECT_EQ(parse_constant("bf16").value(), Constant::type(Dtype::kBF16));
  EXPECT_EQ(parse_constant("tl.float16").value(), Constant::type(Dtype::kF16));
  EXPECT_EQ(parse_constant("tf32x3").value(), Constant::string("tf32x3"));
  EXPECT_EQ(parse_constant("'a b'").value(), Constant::string("a b"));
  EXPECT_EQ(parse_constant("(1, 2)").value().elements.size(), 2u);
  EXPECT_FALSE(parse_constant(""));
  EXPECT_FALSE(parse_constant("1 +"));
  EXPECT_FALSE(parse_constant("f(x)"));
}

TEST(Signature, ConstantsReadBack) {
  for (const char* text : {"1024", "-3", "1.5", "1e+30", "0.1", "True", "None", "bf16", "(1, 2)",
                           "(1,)", "'it\\'s'", "18446744073709551615", "float('inf')"}) {
    Constant constant = parse_constant(text).value();
    EXPECT_EQ(to_string(constant), text);
    EXPECT_EQ(parse_constant(to_string(constant)).value(), constant) << text;
  }
}

TEST(Signature, KeysTellSpecialisationsApart) {
  auto key = [](std::initializer_list<const char*> arguments, int warps = 4) {
    Specialization s;
    for (const char* text : arguments) s.arguments.push_back(parse_argument(text).value());
    s.num_warps = warps;
    return s.key();
  };
  EXPECT_EQ(key({"x=*f32:16", "n=i32"}), key({"x=*f32:16", "n=i32"}));
  EXPECT_EQ(key({"x=*f32"}).find('\n'), std::string::npos);
  std::string keys[] = {key({"x=*f32"}),   key({"x=*f32:16"}), key({"x=f32"}),    key({"y=*f32"}),
                        key({"x=*f16"}),   key({"x=i32"}),     key({"x=i64"}),    key({"x=i32=1"}),
                        key({"x=i32:16"}), key({"x=None"}),    key({"x=*f32"}, 8)};
  for (size_t i = 0; i < std::size(keys); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]);
  Specialization bounded;
  bounded.maxnreg = 128;
  EXPECT_NE(bounded.key(), Specialization{}.key());
}

TEST(ProgramTest, FindsFunctionsInOrder) {
  auto program = Program::load("k.py",
                               "@jit\ndef b(x): pass\n"
                               "@jit\ndef a(x): pass\n"
                               "class Ops:\n  @jit\n  def f(x): pass\n"
                               "@jit\ndef b(y, z): pass\n")
                     .value();
  EXPECT_EQ(program->functions(), (std::vector<std::string>{"b", "a", "Ops.f"}));
  EXPECT_EQ(program->find("b")->params.size(), 2u);  // the later definition counts
  EXPECT_NE(program->find("Ops.f"), nullptr);
  EXPECT_EQ(program->find("f"), nullptr);
}

TEST(ProgramTest, LoadReportsEveryMistake) {
  auto program = Program::load("k.py", "@jit\ndef a(x):\n  y = (\n  z = +\n  return )\n");
  ASSERT_FALSE(program);
  const std::string& details = program.error().details;
  EXPECT_EQ(program.error().kind, DiagKind::kSyntax);
  for (const char* line : {"k.py:3:7:", "k.py:4:8:", "k.py:5:10:"})
    EXPECT_NE(details.find(line), std::string::npos) << details;
}

}  // namespace
}  // namespace tilewright::frontend
