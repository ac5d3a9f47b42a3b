// Scans, gathers and histograms: emitted text, emulated with 1 to 8 warps, against the interpreter.
#include "tests/unit/cuda/tile_text.h"

namespace tilewright::cuda {
namespace {

class Across : public ::testing::TestWithParam<int> {
 protected:
  int warps() const { return GetParam(); }
};

std::string scan_attrs(int axis, bool reverse) {
  return " {axis=" + std::to_string(axis) + (reverse ? ", reverse=1" : "") + "}";
}

std::string scan(Text& t, const std::string& x, Dtype dtype, const std::vector<int>& shape,
                 int axis, bool reverse, const std::string& op) {
  std::string e = name(dtype);
  std::string id =
      t.value(tile(shape, e), "scan " + x + scan_attrs(axis, reverse) + " region(" + t.local("a") +
                                  ": " + e + ", " + t.local("b") + ": " + e + ") {\n    " +
                                  t.local("c") + ": " + e + " = " + op + " " + t.local("a") + ", " +
                                  t.local("b") + "\n    yield " + t.local("c") + "\n  }");
  t.next_local();
  return id;
}

// Composition of x -> a x + b, left one first: associative, not commutative, exact in i32.
void scan_maps(Text& t, const std::string& a, const std::string& b, const std::vector<int>& shape,
               int axis, bool reverse) {
  std::string type = tile(shape, "i32");
  auto l = [&](const char* n) { return t.local(n); };
  t.line(l("sa") + ": " + type + ", " + l("sb") + ": " + type + " = scan " + a + ", " + b +
         scan_attrs(axis, reverse) + " region(" + l("a0") + ": i32, " + l("b0") + ": i32, " +
         l("a1") + ": i32, " + l("b1") + ": i32) {\n    " + l("a2") + ": i32 = mul " + l("a0") +
         ", " + l("a1") + "\n    " + l("m") + ": i32 = mul " + l("b0") + ", " + l("a1") + "\n    " +
         l("b2") + ": i32 = add " + l("m") + ", " + l("b1") + "\n    yield " + l("a2") + ", " +
         l("b2") + "\n  }");
  t.store(l("sa"), Dtype::kI32, shape);
  t.store(l("sb"), Dtype::kI32, shape);
  t.next_local();
}

TEST_P(Across, ScansOfManyShapesKeepLeftAndRightApart) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{1},
                                                                     {2},
                                                                     {32},
                                                                     {256},
                                                                     {4096},
                                                                     {16, 64},
                                                                     {128, 8},
                                                                     {2, 1024},
                                                                     {512, 2},
                                                                     {4, 8, 16},
                                                                     {8, 1, 32}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (bool reverse : {false, true}) {
        SCOPED_TRACE(tile(shape, "i32") + " axis " + std::to_string(axis) +
                     (reverse ? " reverse" : ""));
        Text t(warps());
        std::string a = t.load(integers(Dtype::kI32, shape, 1, 1, 9), shape);
        std::string b = t.load(integers(Dtype::kI32, shape, 2, -50, 50), shape);
        scan_maps(t, a, b, shape, axis, reverse);
        t.finish().check();
      }
}

TEST_P(Across, ScansOfEveryType) {
  const std::vector<int> shape = {8, 64};
  for (Dtype dtype : {Dtype::kI8, Dtype::kU8, Dtype::kI16, Dtype::kI32, Dtype::kU32, Dtype::kI64,
                      Dtype::kU64, Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64})
    for (int axis : {0, 1}) {
      SCOPED_TRACE(name(dtype) + " axis " + std::to_string(axis));
      Text t(warps());
      std::string x = t.load(integers(dtype, shape, 3, -1, 1), shape);
      t.store(scan(t, x, dtype, shape, axis, false, "add"), dtype, shape);
      t.store(scan(t, x, dtype, shape, axis, true, "max"), dtype, shape);
      t.finish().check();
    }
  Text t(warps());
  std::string x = t.load(integers(Dtype::kI1, shape, 4, 0, 1), shape);
  t.store(scan(t, x, Dtype::kI1, shape, 1, false, "xor"), Dtype::kI1, shape);
  t.finish().check();
}

// Layouts other than a load's: transposed, reduced, of a dot, of constants.
TEST_P(Across, ScansInOtherLayouts) {
  for (bool reverse : {false, true}) {
    Text t(warps());
    std::string x = t.load(integers(Dtype::kI32, {64, 32}, 5), {64, 32});
    std::string p = t.value("tile<32x64xi32>", "permute " + x + " {order=[1, 0]}");
    t.store(scan(t, p, Dtype::kI32, {32, 64}, 1, reverse, "add"), Dtype::kI32, {32, 64});
    t.store(scan(t, p, Dtype::kI32, {32, 64}, 0, reverse, "add"), Dtype::kI32, {32, 64});
    std::string q = t.value("tile<16x8x16xi32>", "reshape " + p);
    t.store(scan(t, q, Dtype::kI32, {16, 8, 16}, 1, reverse, "min"), Dtype::kI32, {16, 8, 16});
    std::string a = t.load(integers(Dtype::kF16, {32, 32}, 6, -2, 2), {32, 32});
    std::string zero = t.constant_tile({32, 32}, Dtype::kF32, "0.0");
    std::string d = t.value("tile<32x32xf32>", "dot " + a + ", " + a + ", " + zero);
    t.store(scan(t, d, Dtype::kF32, {32, 32}, 0, reverse, "add"), Dtype::kF32, {32, 32});
    t.store(scan(t, d, Dtype::kF32, {32, 32}, 1, reverse, "add"), Dtype::kF32, {32, 32});
    std::string i = t.index({128});
    t.store(scan(t, i, Dtype::kI32, {128}, 0, reverse, "add"), Dtype::kI32, {128});
    t.finish().check();
  }
}

// More partial results than the scratch holds at once.
TEST_P(Across, ScansAcrossWarpsOfLargeTiles) {
  Text t(warps());
  const std::vector<int> shape = {128, 128};
  std::string x = t.load(integers(Dtype::kI32, shape, 7), shape);
  t.store(scan(t, x, Dtype::kI32, shape, 0, false, "add"), Dtype::kI32, shape);
  t.store(scan(t, x, Dtype::kI32, shape, 0, true, "xor"), Dtype::kI32, shape);
  t.finish().check();
}

std::string gather(Text& t, const std::string& src, const std::string& index,
                   const std::vector<int>& shape, Dtype dtype, int axis) {
  return t.value(tile(shape, name(dtype)),
                 "gather " + src + ", " + index + " {axis=" + std::to_string(axis) + "}");
}

TEST_P(Across, GathersOfManyShapes) {
  struct Case {
    std::vector<int> src, index;
    int axis;
  };
  for (const Case& c : std::vector<Case>{{{64}, {64}, 0},
                                         {{512}, {32}, 0},
                                         {{1}, {128}, 0},
                                         {{32, 64}, {32, 64}, 1},
                                         {{32, 64}, {32, 16}, 1},
                                         {{16, 64}, {128, 64}, 0},
                                         {{4, 8, 16}, {4, 32, 16}, 1},
                                         {{4, 8, 16}, {2, 8, 16}, 0}}) {
    SCOPED_TRACE(tile(c.src, "f32") + " " + tile(c.index, "i32") + " " + std::to_string(c.axis));
    int extent = c.src[static_cast<size_t>(c.axis)];
    Text t(warps());
    std::string x = t.load(integers(Dtype::kF32, c.src, 8, -1000, 1000), c.src);
    // Some lie outside on either side.
    std::string i = t.load(integers(Dtype::kI32, c.index, 9, -2, extent + 1), c.index);
    t.store(gather(t, x, i, c.index, Dtype::kF32, c.axis), Dtype::kF32, c.index);
    t.finish().check();
  }
}

TEST_P(Across, GathersOfEveryType) {
  const std::vector<int> shape = {8, 32};
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kU16, Dtype::kI64, Dtype::kF8E4M3, Dtype::kF16,
                      Dtype::kBF16, Dtype::kF64}) {
    Text t(warps());
    std::string x = t.load(integers(dtype, shape, 10, 0, 1), shape);
    for (Dtype index : {Dtype::kI8, Dtype::kU8, Dtype::kI32, Dtype::kU64, Dtype::kI64}) {
      std::string i = t.load(integers(index, shape, 11, -3, 35), shape);
      t.store(gather(t, x, i, shape, dtype, 1), dtype, shape);
    }
    t.finish().check();
  }
  Text t(warps());  // sources and indices that no thread had to load
  std::string i = t.load(integers(Dtype::kI32, {64}, 12, -3, 66), {64});
  t.store(gather(t, t.index({64}), i, {64}, Dtype::kI32, 0), Dtype::kI32, {64});
  t.store(gather(t, t.constant_tile({64}, Dtype::kF32, "3.0"), i, {64}, Dtype::kF32, 0),
          Dtype::kF32, {64});
  t.store(gather(t, i, t.index({64}), {64}, Dtype::kI32, 0), Dtype::kI32, {64});
  t.finish().check();
}

TEST_P(Across, Histograms) {
  for (int bins : {1, 4, 64, 512, 4096})
    for (int n : {16, 1024}) {
      SCOPED_TRACE(std::to_string(n) + " in " + std::to_string(bins));
      Text t(warps());
      std::string attrs = " {bins=" + std::to_string(bins) + "}", type = tile({bins}, "i32");
      std::string x = t.load(integers(Dtype::kI32, {n}, 13, -2, bins + 1), {n});
      std::string mask = t.load(integers(Dtype::kI1, {n}, 14, 0, 1), {n});
      t.store(t.value(type, "histogram " + x + attrs), Dtype::kI32, {bins});
      t.store(t.value(type, "histogram " + x + ", " + mask + attrs), Dtype::kI32, {bins});
      for (Dtype dtype : {Dtype::kI8, Dtype::kU8, Dtype::kI64, Dtype::kU64}) {
        std::string y = t.load(integers(dtype, {n}, 15, -2, std::min(bins + 1, 127)), {n});
        t.store(t.value(type, "histogram " + y + attrs), Dtype::kI32, {bins});
      }
      t.finish().check();
    }
}

std::string reduce(Text& t, const std::string& x, Dtype dtype, const std::string& op) {
  std::string e = name(dtype);
  std::string id = t.value(e, "reduce " + x + " {axis=0} region(" + t.local("a") + ": " + e + ", " +
                                  t.local("b") + ": " + e + ") {\n    " + t.local("c") + ": " + e +
                                  " = " + op + " " + t.local("b") + ", " + t.local("a") +
                                  "\n    yield " + t.local("c") + "\n  }");
  t.next_local();
  return id;
}

// A warp's integers are combined by one instruction where there is one.
TEST_P(Across, ReductionsOfIntegers) {
  for (const char* target : {"sm_75", "sm_80"})
    for (int n : {8, 32, 1024}) {
      SCOPED_TRACE(std::string(target) + " " + std::to_string(n));
      Text t(warps());
      for (Dtype dtype : {Dtype::kI32, Dtype::kU32})
        for (const char* op : {"add", "min", "max", "and", "or", "xor"}) {
          std::string x = t.load(random_bits(dtype, static_cast<size_t>(n), 21), {n});
          t.store_scalar(reduce(t, x, dtype, op), dtype);
        }
      Comparison c = t.finish(target);
      bool whole_warps = n >= 32 && std::string(target) == "sm_80";
      EXPECT_EQ(c.source().value().text.find("tw_redux_xor") != std::string::npos, whole_warps);
      c.check();
    }
}

// Two at once, which share a barrier, and one that depends on them.
TEST_P(Across, IndependentReductionsExchangeOnce) {
  Text t(warps());
  std::string x = t.load(integers(Dtype::kF32, {512}, 22), {512});
  std::string y = t.load(integers(Dtype::kF32, {512}, 23), {512});
  std::string sum = reduce(t, x, Dtype::kF32, "add"), most = reduce(t, y, Dtype::kF32, "max");
  t.store_scalar(sum, Dtype::kF32);
  t.store_scalar(most, Dtype::kF32);
  std::string apart =
      t.value(tile({512}, "f32"), "sub " + x + ", " + t.value(tile({512}, "f32"), "splat " + most));
  t.store_scalar(reduce(t, apart, Dtype::kF32, "add"), Dtype::kF32);
  Comparison c = t.finish();
  const std::string text = c.source().value().text;
  int barriers = 0;
  for (size_t at = text.find("tw_barrier"); at != text.npos; at = text.find("tw_barrier", at + 1))
    ++barriers;
  EXPECT_EQ(barriers, warps() > 1 ? 2 : 0);
  c.check();
}

TEST_P(Across, AtomicsOnOneAddressCombineFirst) {
  for (Dtype dtype : {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kF32})
    for (const char* op : {"add", "max", "min", "and", "or", "xor"}) {
      if (is_float(dtype) && std::string(op) != "add") continue;
      SCOPED_TRACE(name(dtype) + " " + op);
      const std::vector<int> shape = {16, 32};
      Text t(warps());
      std::string v = t.load(integers(dtype, shape, 24), shape);
      std::string m = t.load(integers(Dtype::kI1, shape, 25, 0, 1), shape);
      std::string attrs = std::string(" {op=") + op + ", sem=relaxed}";
      std::string one = t.pointer(dtype, integers(dtype, {1}, 26));
      std::string all = t.value(tile(shape, "ptr<" + name(dtype) + ">"), "splat " + one);
      t.value(tile(shape, name(dtype)), "atomic_rmw " + all + ", " + v + ", " + m + attrs);
      // One address a row.
      std::string rows = t.addresses(t.pointer(dtype, integers(dtype, {16}, 27)), dtype, {16, 1});
      std::string wide = t.value(tile(shape, "ptr<" + name(dtype) + ">"), "broadcast " + rows);
      t.value(tile(shape, name(dtype)), "atomic_rmw " + wide + ", " + v + ", " + m + attrs);
      t.value(tile(shape, name(dtype)), "atomic_rmw " + wide + ", " + v + attrs);
      t.finish().check();
    }
}

INSTANTIATE_TEST_SUITE_P(Warps, Across, ::testing::Values(1, 2, 4, 8));

TEST(AcrossElements, CompileForEveryTarget) {
  const std::vector<int> shape = {16, 64};
  Text t(4);
  std::string x = t.load(integers(Dtype::kF32, shape, 1), shape);
  t.store(scan(t, x, Dtype::kF32, shape, 0, false, "add"), Dtype::kF32, shape);
  t.store(scan(t, x, Dtype::kF32, shape, 1, true, "mul"), Dtype::kF32, shape);
  std::string i = t.load(integers(Dtype::kI64, shape, 2), shape);
  t.store(gather(t, x, i, shape, Dtype::kF32, 1), Dtype::kF32, shape);
  std::string v = t.load(integers(Dtype::kI32, {1024}, 3), {1024});
  t.store(t.value(tile({64}, "i32"), "histogram " + v + " {bins=64}"), Dtype::kI32, {64});
  t.finish().compiles({"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"});
}

// Without the barriers of the exchange, threads read what others have not written.
TEST(AcrossElements, MissingBarriersAreFound) {
  Text t(4);
  std::string x = t.load(integers(Dtype::kI32, {1024}, 1), {1024});
  t.store(scan(t, x, Dtype::kI32, {1024}, 0, false, "add"), Dtype::kI32, {1024});
  std::string i = t.load(integers(Dtype::kI32, {1024}, 2, 0, 1023), {1024});
  t.store(gather(t, x, i, {1024}, Dtype::kI32, 0), Dtype::kI32, {1024});
  t.store(t.value(tile({64}, "i32"), "histogram " + i + " {bins=64}"), Dtype::kI32, {64});
  Comparison c = t.finish();
  Source source = c.source().value();
  const std::string barrier = "tw_barrier();";
  int found = 0, barriers = 0;
  for (size_t at = source.text.find(barrier); at != source.text.npos;
       at = source.text.find(barrier, at + 1)) {
    Source broken = source;
    broken.text.erase(at, barrier.size());
    ++barriers;
    found += !c.runs_clean(broken);
  }
  EXPECT_EQ(found, barriers);
  EXPECT_GE(barriers, 4);
}

}  // namespace
}  // namespace tilewright::cuda
