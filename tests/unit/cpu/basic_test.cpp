// Whole small kernels: masks, loops, dot, reductions.
#include <algorithm>

#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

std::vector<double> ramp(size_t count, double start = 0, double step = 1) {
  std::vector<double> out;
  for (size_t i = 0; i < count; ++i) out.push_back(start + step * static_cast<double>(i));
  return out;
}

constexpr const char* kVectorAdd = R"(
kernel @add(%x: ptr<f32>, %y: ptr<f32>, %out: ptr<f32>, %n: i32) {
  %pid: i32 = program_id {axis=0}
  %block: i32 = const {value=64}
  %start: i32 = mul %pid, %block
  %r: tile<64xi32> = arange {start=0, end=64}
  %s: tile<64xi32> = splat %start
  %offs: tile<64xi32> = add %s, %r
  %nt: tile<64xi32> = splat %n
  %mask: tile<64xi1> = cmp %offs, %nt {pred=lt}
  %xt: tile<64xptr<f32>> = splat %x
  %xp: tile<64xptr<f32>> = ptr_add %xt, %offs
  %a: tile<64xf32> = load %xp, %mask
  %yt: tile<64xptr<f32>> = splat %y
  %yp: tile<64xptr<f32>> = ptr_add %yt, %offs
  %b: tile<64xf32> = load %yp, %mask
  %c: tile<64xf32> = add %a, %b
  %ot: tile<64xptr<f32>> = splat %out
  %op: tile<64xptr<f32>> = ptr_add %ot, %offs
  store %op, %c, %mask
  return
}
)";

TEST(Cpu, VectorAddWithMask) {
  Arguments arguments{{Array::of(Dtype::kF32, ramp(1000)), Array::of(Dtype::kF32, ramp(1000, 5, 3)),
                       Array::zeros(Dtype::kF32, 1000)},
                      {997},
                      {16, 1, 1},
                      {},
                      {}};
  compare(kVectorAdd, arguments);
}

TEST(Cpu, EmitsTextForAnyWidth) {
  ir::Module module = parse_ir(kVectorAdd);
  for (int bytes : {16, 32, 64}) {
    Options options;
    options.vector_bytes = bytes;
    auto text = emit_llvm(module, options);
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("define i64 @add("), std::string::npos);
  }
  auto assembly = emit_assembly(module);
  ASSERT_TRUE(assembly.ok()) << assembly.error().text();
  EXPECT_NE(assembly->find("add:"), std::string::npos);
}

// Every level of optimisation and every register width runs, on any machine.
TEST(Cpu, EveryLevelAndWidth) {
  for (int level : {0, 1, 2, 3})
    for (int bytes : {16, 32, 64}) {
      Options options;
      options.opt_level = level;
      options.vector_bytes = bytes;
      Arguments arguments{{Array::of(Dtype::kF32, ramp(200)),
                           Array::of(Dtype::kF32, ramp(200, 5, 3)), Array::zeros(Dtype::kF32, 200)},
                          {190},
                          {4, 1, 1},
                          {},
                          {}};
      compare(kVectorAdd, arguments, std::to_string(level), options);
    }
}

TEST(Cpu, LineTable) {
  std::string text = kVectorAdd;
  SourceMap sources;
  sources.add("folder/add.py", text);
  Options options;
  options.debug_sources = &sources;
  ir::Module module = parse_ir(text);
  auto assembly = emit_assembly(module, options);
  ASSERT_TRUE(assembly.ok()) << assembly.error().text();
  EXPECT_NE(assembly->find("\"add.py\""), std::string::npos);
  auto line_of = [&](const char* what) {
    return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)),
                      '\n') +
           1;
  };
  for (const char* statement : {"%a: ", "store"})
    EXPECT_NE(assembly->find(".loc\t1 " + std::to_string(line_of(statement)) + " "),
              std::string::npos)
        << statement;
  auto kernel = compile(module, options);  // linked and announced to gdb
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
}

// A kernel's name need not be an identifier of LLVM's.
TEST(Cpu, AnyName) {
  ir::Module module = parse_ir(kVectorAdd);
  module.name = "a b\"%\n";
  EXPECT_TRUE(compile(module).ok());
}

// Only in builds with TILEWRIGHT_ENABLE_LLVM=OFF, where no other test of this program is run.
TEST(Cpu, WithoutLlvm) {
  if (available()) GTEST_SKIP() << "built with LLVM";
  ir::Module module = parse_ir(kVectorAdd);
  EXPECT_TRUE(emit_llvm(module).ok());
  auto kernel = compile(module);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, DiagKind::kNoLlvm);
  EXPECT_EQ(emit_assembly(module).error().kind, DiagKind::kNoLlvm);
}

TEST(Cpu, DescribesItsTarget) {
  ASSERT_TRUE(available());
  EXPECT_NE(target_description().find("/llvm-"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::cpu
