// Layout assignments of IR text: rules on every target and number of warps, and what the heuristics
// promise for matrix products and attention.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "codegen/cuda/layouts.h"
#include "tests/unit/assign/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;

std::string golden_text(const std::string& name) {
  std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/golden/layouts/" + name + ".ir");
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  all = all.substr(all.find('\n') + 1);
  return all.substr(0, all.find("# --- expected"));
}

struct Assigned {
  ir::Module module;
  LayoutAssignment layouts;
  int conversions = 0, in_loops = 0;
};

Assigned assign(const std::string& text, const char* target, int warps) {
  auto module = ir::parse("test.ir", text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().text());
  module->attrs.set("num_warps", int64_t{warps});
  auto layouts = assign_layouts(*module, *find_target(target));
  EXPECT_TRUE(layouts.ok());
  Assigned result{*module, *layouts};
  AssignmentChecker checker(result.module, result.layouts, *find_target(target));
  checker.run();
  result.conversions = checker.conversions;
  result.in_loops = checker.conversions_in_loops;
  return result;
}

const DotPlan& dot(const Assigned& a, int index = 0) {
  return std::next(a.layouts.dots.begin(), index)->second;
}

class Everywhere : public testing::TestWithParam<std::tuple<const char*, const char*, int>> {};

TEST_P(Everywhere, RulesHold) {
  auto [kernel, target, warps] = GetParam();
  assign(golden_text(kernel), target, warps);
}

INSTANTIATE_TEST_SUITE_P(All, Everywhere,
                         testing::Combine(testing::Values("matmul", "attention", "reduce"),
                                          testing::Values("sm_75", "sm_80", "sm_86", "sm_89",
                                                          "sm_90", "sm_100", "sm_120"),
                                          testing::Values(1, 2, 4, 8)));

// In the loop only the two operands move; the accumulator never does.
TEST(Assign, MatmulMovesOperandsOnly) {
  for (int warps : {1, 2, 4, 8}) {
    Assigned a = assign(golden_text("matmul"), "sm_80", warps);
    EXPECT_EQ(a.in_loops, 2);
    EXPECT_EQ(a.conversions, 3);  // and the result, once
    for (auto [op, vector] : a.layouts.vectors) EXPECT_EQ(vector, 8);
  }
}

TEST(Assign, AttentionKeepsProbabilitiesInPlace) {
  for (int warps : {1, 2, 4}) {
    Assigned a = assign(golden_text("attention"), "sm_80", warps);
    EXPECT_EQ(dot(a, 0).tiling.warps_n, 1);
    EXPECT_EQ(dot(a, 1).tiling.warps_n, 1);
    EXPECT_EQ(a.in_loops, 2);     // keys and values
    EXPECT_EQ(a.conversions, 4);  // queries before the loop, the result after it
  }
}

std::string dot_text(const std::string& a, const std::string& b, const std::string& acc, int m,
                     int n, int k, const std::string& attrs = "") {
  auto tile = [](int rows, int columns, const std::string& type) {
    return "tile<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  };
  std::string ta = tile(m, k, a), tb = tile(k, n, b), tc = tile(m, n, acc);
  std::string zero = acc[0] == 'i' ? "0" : "0.0";
  return "kernel @k(%p: " + a + ", %q: " + b + ") { %a: " + ta + " = splat %p\n %b: " + tb +
         " = splat %q\n %c: " + tc + " = const {value=" + zero + "}\n %d: " + tc +
         " = dot %a, %b, %c" + attrs + "\n return }";
}

std::string plan(const std::string& text, const char* target, int warps = 4) {
  Assigned a = assign(text, target, warps);
  const DotPlan& p = dot(a);
  if (p.kind == DotPlan::Kind::kFma) return "fma";
  const Unit& unit = p.unit;
  std::string found = unit.function.substr(std::string_view("tw_mma_").size());
  if (unit.products > 1)
    found += " x" + std::to_string(unit.products) + " " + unit.split_a + " " + unit.split_b;
  return unit.promote > 0 ? found + " promote " + std::to_string(unit.promote) : found;
}

TEST(Assign, UnitsByTarget) {
  auto text = [](const std::string& a, const std::string& acc, int k = 32,
                 const std::string& attrs = "", const std::string& b = "") {
    return dot_text(a, b.empty() ? a : b, acc, 64, 64, k, attrs);
  };
  EXPECT_EQ(plan(text("f16", "f32"), "sm_75"), "m16n8k8_f16");
  EXPECT_EQ(plan(text("f16", "f16"), "sm_75"), "m16n8k8_f16_to_f16");
  EXPECT_EQ(plan(text("f16", "f16"), "sm_80"), "m16n8k16_f16_to_f16");
  EXPECT_EQ(plan(text("bf16", "f32"), "sm_75"), "fma");
  EXPECT_EQ(plan(text("bf16", "f32"), "sm_120"), "m16n8k16_bf16");
  EXPECT_EQ(plan(text("bf16", "f32", 8), "sm_120"), "m16n8k8_bf16");
  // Where M or N is smaller than the instruction, parts of it repeat; a smaller K has none.
  EXPECT_EQ(plan(dot_text("f16", "f16", "f32", 8, 64, 32), "sm_90"), "m16n8k16_f16");
  EXPECT_EQ(plan(dot_text("f16", "f16", "f32", 1, 2, 32), "sm_90"), "m16n8k16_f16");
  EXPECT_EQ(plan(text("f16", "f32", 4), "sm_90"), "fma");
}

TEST(Assign, UnitsOfIntegers) {
  auto text = [](const std::string& a, const std::string& b, int k, const std::string& attrs = "") {
    return dot_text(a, b, "i32", 64, 64, k, attrs);
  };
  EXPECT_EQ(plan(text("i8", "i8", 32), "sm_75"), "m8n8k16_i8");
  EXPECT_EQ(plan(text("i8", "i8", 32), "sm_90"), "m16n8k32_i8");
  EXPECT_EQ(plan(text("i8", "i8", 16), "sm_90"), "m16n8k16_i8");
  EXPECT_EQ(plan(text("u8", "u8", 64), "sm_86"), "m16n8k32_u8");
  EXPECT_EQ(plan(text("u8", "i8", 64), "sm_86"), "m16n8k32_u8_i8");
  EXPECT_EQ(plan(text("i8", "u8", 32), "sm_75"), "m8n8k16_i8_u8");
  EXPECT_EQ(plan(text("i8", "i8", 32, " {nibbles=1}"), "sm_89"), "m16n8k64_i4");
  EXPECT_EQ(plan(text("u8", "i8", 16, " {nibbles=1}"), "sm_80"), "m16n8k32_u4_i4");
  EXPECT_EQ(plan(text("u8", "i8", 32, " {nibbles=1}"), "sm_90"), "m16n8k32_u8_i8 x2 u4 i4");
  EXPECT_EQ(plan(text("i8", "i8", 32, " {nibbles=1}"), "sm_75"), "m8n8k16_i8 x2 i4 i4");
}

TEST(Assign, UnitsOfSparseOperands) {
  auto text = [](const std::string& a, const std::string& b, const std::string& acc, int k,
                 const std::string& places) {
    int bits = (a == "f32" ? k * 2 : k) / (places == "i8" ? 8 : places == "i16" ? 16 : 32);
    std::string zero = acc[0] == 'i' ? "0" : "0.0";
    return "kernel @k(%p: " + a + ", %q: " + b + ", %r: " + places + ") { %a: tile<64x" +
           std::to_string(k / 2) + "x" + a + "> = splat %p\n %b: tile<" + std::to_string(k) +
           "x64x" + b + "> = splat %q\n %e: tile<64x" + std::to_string(bits) + "x" + places +
           "> = splat %r\n %c: tile<64x64x" + acc + "> = const {value=" + zero +
           "}\n %d: tile<64x64x" + acc + "> = dot %a, %b, %c, %e\n return }";
  };
  EXPECT_EQ(plan(text("f16", "f16", "f32", 64, "i16"), "sm_80"), "sp_m16n8k32_f16");
  EXPECT_EQ(plan(text("bf16", "bf16", "f32", 32, "i8"), "sm_90"), "sp_m16n8k32_bf16");
  EXPECT_EQ(plan(text("f32", "f32", "f32", 16, "i16"), "sm_80"), "sp_m16n8k16_tf32");
  EXPECT_EQ(plan(text("i8", "u8", "i32", 64, "i32"), "sm_86"), "sp_m16n8k64_i8_u8");
  EXPECT_EQ(plan(text("f8e4m3", "f8e5m2", "f32", 64, "i16"), "sm_89"), "sp_m16n8k64_f8e4m3_f8e5m2");
}

// What has no instruction is written out before layouts are assigned.
TEST(Assign, SparseOperandsWithoutUnits) {
  DotTypes types{.a = Dtype::kF16,
                 .b = Dtype::kF16,
                 .sum = Dtype::kF32,
                 .k = 64,
                 .places = Dtype::kI16,
                 .sparse = true};
  auto has = [&](const char* target) { return find_unit(*find_target(target), types).has_value(); };
  EXPECT_TRUE(has("sm_80"));
  EXPECT_FALSE(has("sm_75"));
  types.places = Dtype::kI32;
  EXPECT_FALSE(has("sm_80"));
  types.places = Dtype::kI16, types.sum = Dtype::kF16;
  EXPECT_FALSE(has("sm_80"));
  types.sum = Dtype::kF32, types.k = 16;
  EXPECT_FALSE(has("sm_80"));
  types.a = types.b = Dtype::kF8E4M3, types.k = 64;
  EXPECT_TRUE(has("sm_89"));
  EXPECT_FALSE(has("sm_90"));
}

TEST(Assign, UnitsOfFp8) {
  auto text = [](const std::string& a, const std::string& b, const std::string& acc, int k,
                 const std::string& attrs = "") { return dot_text(a, b, acc, 64, 64, k, attrs); };
  EXPECT_EQ(plan(text("f8e4m3", "f8e4m3", "f32", 32), "sm_75"), "m16n8k8_f16 x2 f8e4m3 f8e4m3");
  EXPECT_EQ(plan(text("f8e5m2", "f8e4m3", "f16", 32), "sm_90"),
            "m16n8k16_f16_to_f16 x2 f8e5m2 f8e4m3");
  EXPECT_EQ(plan(text("f8e5m2", "f8e5m2", "f32", 32), "sm_89"), "m16n8k32_f8e5m2");
  EXPECT_EQ(plan(text("f8e5m2", "f8e4m3", "f16", 32), "sm_120"), "m16n8k32_f8e5m2_f8e4m3_to_f16");
  EXPECT_EQ(plan(text("f8e4m3", "f8e4m3", "f32", 16), "sm_89"), "m16n8k8_f16 x2 f8e4m3 f8e4m3");
  std::string limit = " {max_imprecise=64}";
  EXPECT_EQ(plan(text("f8e4m3", "f8e4m3", "f32", 128, limit), "sm_89"),
            "m16n8k32_f8e4m3 promote 2");
  EXPECT_EQ(plan(text("f8e4m3", "f8e4m3", "f32", 32, limit), "sm_89"), "m16n8k32_f8e4m3 promote 1");
  EXPECT_EQ(plan(text("f8e4m3", "f8e4m3", "f16", 128, limit), "sm_89"), "m16n8k32_f8e4m3_to_f16");
}

TEST(Assign, UnitsOfWideFloats) {
  auto text = [](const std::string& type, int k, const std::string& attrs = "") {
    return dot_text(type, type, type, 64, 64, k, attrs);
  };
  EXPECT_EQ(plan(text("f32", 32), "sm_75"), "fma");
  EXPECT_EQ(plan(text("f32", 32), "sm_86"), "m16n8k8_tf32");
  EXPECT_EQ(plan(text("f32", 4), "sm_86"), "m16n8k4_tf32");
  EXPECT_EQ(plan(text("f32", 32, " {precision=tf32x3}"), "sm_86"), "m16n8k8_tf32 x3 tf32 tf32");
  EXPECT_EQ(plan(text("f32", 32, " {precision=ieee}"), "sm_86"), "fma");
  EXPECT_EQ(plan(text("f64", 32), "sm_75"), "fma");
  EXPECT_EQ(plan(text("f64", 32), "sm_80"), "m8n8k4_f64");
  EXPECT_EQ(plan(text("f64", 32), "sm_90"), "m16n8k16_f64");
  EXPECT_EQ(plan(text("f64", 8), "sm_90"), "m16n8k8_f64");
  EXPECT_EQ(plan(text("f64", 32), "sm_120"), "m8n8k4_f64");
}

TEST(Assign, WarpsReadTheFewestOperands) {
  auto warps = [](int m, int n, int count) {
    Assigned a = assign(dot_text("f16", "f16", "f32", m, n, 32), "sm_80", count);
    return std::pair(dot(a).tiling.warps_m, dot(a).tiling.warps_n);
  };
  EXPECT_EQ(warps(128, 128, 4), std::pair(2, 2));
  EXPECT_EQ(warps(128, 256, 8), std::pair(2, 4));
  EXPECT_EQ(warps(256, 128, 8), std::pair(4, 2));
  EXPECT_EQ(warps(128, 32, 4), std::pair(4, 1));
  EXPECT_EQ(warps(16, 128, 4), std::pair(1, 4));
  EXPECT_EQ(warps(16, 16, 4), std::pair(1, 4));  // two would do: the others repeat their work
}

TEST(Assign, WrongNumberOfWarpsIsAnError) {
  auto module = ir::parse("test.ir", "kernel @k() attributes {num_warps=3} { return }");
  ASSERT_TRUE(module.ok());
  auto layouts = assign_layouts(*module, *find_target("sm_80"));
  ASSERT_FALSE(layouts.ok());
  EXPECT_EQ(layouts.error().kind, DiagKind::kOutOfResources);
}

// Shape ops, scatter, atomics, while and if around tiles, on values that are no index arithmetic.
TEST(Assign, EveryOpFindsALayout) {
  constexpr const char* kText = R"(kernel @k(%p: ptr<f32> {div=16}, %i: ptr<i32> {div=16}, %c: i1) {
    %r: tile<64xi32> = arange {start=0, end=64}
    %ps: tile<64xptr<f32>> = splat %p
    %pp: tile<64xptr<f32>> = ptr_add %ps, %r
    %x: tile<64xf32> = load %pp
    %is: tile<64xptr<i32>> = splat %i
    %ip: tile<64xptr<i32>> = ptr_add %is, %r
    %k: tile<64xi32> = load %ip
    %gp: tile<64xptr<f32>> = ptr_add %ps, %k
    %g: tile<64xf32> = load %gp
    %sum: tile<64xf32> = add %x, %g
    %m: tile<8x8xf32> = reshape %sum
    %t: tile<8x8xf32> = permute %m {order=[1, 0]}
    %j: tile<8x8x2xf32> = join %m, %t
    %lo: tile<8x8xf32>, %hi: tile<8x8xf32> = split %j
    %both: tile<16x8xf32> = cat %lo, %hi {axis=0}
    %s: tile<8xf32> = reduce %both {axis=0} region(%u: f32, %v: f32) {
      %w: f32 = add %u, %v
      yield %w
    }
    %e: tile<8xf32> = exp %s
    %e2: tile<2xf32> = reshape %e2in
    %l: f32, %h: f32 = split %e2
    %r8: tile<8xi32> = arange {start=0, end=8}
    %ps8: tile<8xptr<f32>> = splat %p
    %p8: tile<8xptr<f32>> = ptr_add %ps8, %r8
    %old: tile<8xf32> = atomic_rmw %p8, %e {op=add}
    store %p8, %old
    %y: tile<64xf32> = if %c region() {
      %neg: tile<64xf32> = neg %sum
      yield %neg
    } region() {
      %zero: tile<64xf32> = const {value=0.0}
      yield %zero
    }
    %z: tile<64xf32> = while %y region(%a: tile<64xf32>) {
      condition %c, %a
    } region(%b: tile<64xf32>) {
      %b2: tile<64xf32> = exp %b
      yield %b2
    }
    store %gp, %z
    return
  })";
  std::string text = kText;
  text.replace(text.find("%e2in"), 5, "%two");
  text.replace(text.find("    %e2:"), 0,
               "    %ee: tile<2x4xf32> = reshape %e\n"
               "    %two: tile<2xf32> = reduce %ee {axis=1} region(%u2: f32, %v2: f32) {\n"
               "      %w2: f32 = max %u2, %v2\n      yield %w2\n    }\n");
  for (int warps : {1, 2, 4, 8}) assign(text, "sm_80", warps);
}

// Operands that could have any layout: the ops that take their operands' layout find one for both.
TEST(Assign, ShapeOpsOfIndices) {
  assign(R"(kernel @k(%p: ptr<i32> {div=16}) {
    %r: tile<64xi32> = arange {start=0, end=64}
    %s: tile<64xi32> = arange {start=64, end=128}
    %j: tile<64x2xi32> = join %r, %s
    %c: tile<128xi32> = cat %r, %s {axis=0}
    %m: tile<8x8xi32> = reshape %r
    %t: tile<8xi32> = reduce %m {axis=0} region(%u: i32, %v: i32) {
      %w: i32 = add %u, %v
      yield %w
    }
    %lo: tile<64xi32>, %hi: tile<64xi32> = split %j
    %f: tile<128xi32> = reshape %j
    %q: tile<128xi32> = add %f, %c
    %r128: tile<128xi32> = arange {start=0, end=128}
    %p128: tile<128xptr<i32>> = splat %p
    %pp: tile<128xptr<i32>> = ptr_add %p128, %r128
    store %pp, %q
    %p64: tile<64xptr<i32>> = splat %p
    %pl: tile<64xptr<i32>> = ptr_add %p64, %hi
    store %pl, %lo
    %r8: tile<8xi32> = arange {start=0, end=8}
    %p8: tile<8xptr<i32>> = splat %p
    %pt: tile<8xptr<i32>> = ptr_add %p8, %r8
    %old: tile<8xi32> = atomic_rmw %pt, %t {op=add}
    return
  })",
         "sm_90", 4);
}

}  // namespace
}  // namespace tilewright::cuda
