// The text form: what prints can be read back and prints the same; numbers survive exactly.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "codegen/ir/listing.h"
#include "codegen/ir/module.h"

namespace tilewright::ir {
namespace {

std::string reprint(const std::string& text) {
  auto module = parse("test.ir", text);
  return module.ok() ? print(*module) : module.error().text();
}

TEST(Text, CanonicalTextPrintsAsItIs) {
  const std::string text =
      "kernel @add(%x: ptr<f32> {div=16}, %n: i32) attributes {num_warps=4} {\n"
      "  %pid: i32 = program_id {axis=0}\n"
      "  %0: tile<16xi32> = arange {start=0, end=16}\n"
      "  %acc: i32 = for %pid, %n, %pid, %n region(%i: i32, %acc.1: i32) {\n"
      "    %acc.2: i32 = add %acc.1, %i\n"
      "    yield %acc.2\n"
      "  }\n"
      "  %c: i1 = cmp %acc, %n {pred=lt}\n"
      "  %1: i32 = if %c region() {\n"
      "    yield %acc\n"
      "  } region() {\n"
      "    yield %n\n"
      "  }\n"
      "  assert %c {message=\"a \\\"quoted\\\" word\\n\"}\n"
      "  return\n"
      "}\n";
  // Attributes print sorted by key.
  std::string sorted = text;
  sorted.replace(sorted.find("start=0, end=16"), 15, "end=16, start=0");
  EXPECT_EQ(reprint(text), sorted);
  EXPECT_EQ(reprint(sorted), sorted);
}

TEST(Text, NamesAreMadeUnique) {
  Module module;
  module.name = "k";
  module.body = module.add_region({});
  for (const char* hint : {"acc", "acc", "acc.1", "", "7", "a b", "acc"}) {
    OpId op =
        module.add_op(Op::Const, {}, {}, {{"value", int64_t{1}}}, {Type::scalar(Dtype::kI32)});
    module.append(module.body, op);
    module.value(module.op(op).results[0]).name = hint;
  }
  module.append(module.body, module.add_op(Op::Return, {}, {}, {}, {}));
  Listing listing = list(module);
  EXPECT_EQ(listing.value_names,
            (std::vector<std::string>{"%acc", "%acc.1", "%acc.2", "%0", "%_7", "%a_b", "%acc.3"}));
  EXPECT_EQ(reprint(listing.text), listing.text);
}

TEST(Text, FloatsAreExact) {
  const double values[] = {0.0,
                           -0.0,
                           1.0,
                           0.1,
                           -1e300,
                           5e-324,
                           std::numeric_limits<double>::max(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN(),
                           -std::numeric_limits<double>::quiet_NaN(),
                           std::bit_cast<double>(uint64_t{0x7ff8000012345678}),
                           123456789012345678.0};
  for (double value : values) {
    std::string text =
        "kernel @k() {\n  %0: f64 = const {value=" + float_text(value) + "}\n  return\n}\n";
    auto module = parse("test.ir", text);
    ASSERT_TRUE(module.ok()) << module.error().text();
    const OpNode& op = module->op(module->region(module->body).ops[0]);
    EXPECT_EQ(std::bit_cast<uint64_t>(op.attrs.get_float("value")), std::bit_cast<uint64_t>(value))
        << text;
    EXPECT_EQ(print(*module), text);
  }
}

TEST(Text, DeepNestingIsAnErrorNotACrash) {
  std::string text = "kernel @k(%c: i1) {\n";
  for (int i = 0; i < 1000; ++i) text += "if %c region() {\n";
  auto module = parse("deep.ir", text);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().message, "regions are nested too deeply");
}

TEST(Text, TypesHaveOneSpelling) {
  for (const char* text :
       {"f32", "ptr<bf16>", "tile<16xf8e4m3>", "tile<128x64xptr<i1>>", "tile<1x2x4x8x16xu64>"}) {
    auto type = parse_type(text);
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(to_string(*type), text);
  }
  for (const char* text :
       {"", "float32", "ptr<>", "ptr<f32", "tile<f32>", "tile<16f32>", "tile<x>", "tile<016xf32>",
        "tile<16xf32> ", "tile<99999999999999999999xf32>", "ptr<ptr<f32>>", "f32x"})
    EXPECT_FALSE(parse_type(text)) << text;
}

TEST(Text, LocationsAreShownAndSkipped) {
  SourceMap sources;
  uint16_t file = sources.add("k.py", "a\nbc = 1\n");
  Module module;
  module.name = "k";
  module.body = module.add_region({});
  module.append(module.body, module.add_op(Op::Barrier, {3, 4, file}, {}, {}, {}));
  module.append(module.body, module.add_op(Op::Return, {}, {}, {}, {}));
  std::string text = list(module, &sources).text;
  EXPECT_EQ(text, "kernel @k() {\n  barrier loc(2:2)\n  return\n}\n");
  EXPECT_EQ(reprint(text), "kernel @k() {\n  barrier\n  return\n}\n");
}

TEST(Text, ParsedOpsCarryTheirPlaceInTheText) {
  std::string text = "kernel @k() {\n  %0: i32 = program_id {axis=0}\n  return\n}\n";
  auto module = parse("test.ir", text);
  ASSERT_TRUE(module.ok());
  Span span = module->op(module->region(module->body).ops[0]).span;
  EXPECT_EQ(text.substr(span.begin, span.end - span.begin), "%0: i32 = program_id");
}

}  // namespace
}  // namespace tilewright::ir
