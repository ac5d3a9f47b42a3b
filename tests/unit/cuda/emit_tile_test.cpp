// Tiles moving about: shapes, masks, reductions, dots, loops, atomics; emitted text, emulated with
// 1, 2, 4 and 8 warps, against the interpreter.
#include "tests/unit/cuda/tile_text.h"

namespace tilewright::cuda {
namespace {

class EmitTile : public ::testing::TestWithParam<int> {
 protected:
  int warps() const { return GetParam(); }
  int counter_ = 0;
};

TEST_P(EmitTile, ShapeOps) {
  Text t(warps());
  std::string x = t.load(integers(Dtype::kF16, {32, 64}, 1), {32, 64});
  std::string y = t.load(integers(Dtype::kF16, {32, 64}, 2), {32, 64});
  t.store(t.value("tile<64x32xf16>", "permute " + x + " {order=[1, 0]}"), Dtype::kF16, {64, 32});
  t.store(t.value("tile<8x4x64xf16>", "reshape " + x), Dtype::kF16, {8, 4, 64});
  t.store(t.value("tile<32x64x2xf16>", "join " + x + ", " + y), Dtype::kF16, {32, 64, 2});
  t.store(t.value("tile<64x64xf16>", "cat " + x + ", " + y + " {axis=0}"), Dtype::kF16, {64, 64});
  t.store(t.value("tile<32x128xf16>", "cat " + x + ", " + y + " {axis=1}"), Dtype::kF16, {32, 128});
  std::string z = t.value("tile<32x32x2xf16>", "reshape " + x);
  t.line("%lo: tile<32x32xf16>, %hi: tile<32x32xf16> = split " + z);
  t.store("%lo", Dtype::kF16, {32, 32});
  t.store("%hi", Dtype::kF16, {32, 32});
  std::string three = t.value("tile<8x4x64xf16>", "reshape " + y);
  t.store(t.value("tile<64x8x4xf16>", "permute " + three + " {order=[2, 0, 1]}"), Dtype::kF16,
          {64, 8, 4});
  t.finish().check();
}

TEST_P(EmitTile, SplitOfAVectorAndTilesOfOneElement) {
  Text t(warps());
  std::string x = t.load(integers(Dtype::kI32, {2}, 3), {2});
  t.line("%lo: i32, %hi: i32 = split " + x);
  t.store_scalar("%lo", Dtype::kI32);
  t.store_scalar("%hi", Dtype::kI32);
  std::string one = t.load(integers(Dtype::kI32, {1}, 4), {1});
  t.store(t.value("tile<1x1xi32>", "reshape " + one), Dtype::kI32, {1, 1});
  std::string s = t.scalar_param(Dtype::kI32, 7);
  t.store(t.value("tile<4xi32>", "splat " + s), Dtype::kI32, {4});
  t.store(t.value("tile<16x4xi32>", "splat " + s), Dtype::kI32, {16, 4});
  t.finish().check();
}

TEST_P(EmitTile, ConversionsOfEveryWidth) {
  Text t(warps());
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kF8E4M3, Dtype::kI16, Dtype::kBF16,
                      Dtype::kI32, Dtype::kF64}) {
    std::string x = t.load(integers(dtype, {64, 16}, 5, 0, 1), {64, 16});
    t.store(t.value("tile<16x64x" + name(dtype) + ">", "permute " + x + " {order=[1, 0]}"), dtype,
            {16, 64});
  }
  t.finish().check();
}

TEST_P(EmitTile, ReductionsAlongEachAxis) {
  Text t(warps());
  auto sum = [&](const std::string& type, const std::string& scalar, const std::string& x, int axis,
                 const char* op) {
    std::string id = t.value(
        type, "reduce " + x + " {axis=" + std::to_string(axis) + "} region(%a" +
                  std::to_string(counter_) + ": " + scalar + ", %b" + std::to_string(counter_) +
                  ": " + scalar + ") {\n    %c" + std::to_string(counter_) + ": " + scalar + " = " +
                  op + " %a" + std::to_string(counter_) + ", %b" + std::to_string(counter_) +
                  "\n    yield %c" + std::to_string(counter_) + "\n  }");
    ++counter_;
    return id;
  };
  std::string x = t.load(integers(Dtype::kF32, {32, 64}, 6), {32, 64});
  t.store(sum("tile<32xf32>", "f32", x, 1, "add"), Dtype::kF32, {32});
  t.store(sum("tile<64xf32>", "f32", x, 0, "max"), Dtype::kF32, {64});
  std::string y = t.load(integers(Dtype::kI16, {512}, 7), {512});
  t.store_scalar(sum("i16", "i16", y, 0, "add"), Dtype::kI16);
  std::string z = t.load(integers(Dtype::kF16, {4, 8, 16}, 8), {4, 8, 16});
  t.store(sum("tile<4x16xf16>", "f16", z, 1, "min"), Dtype::kF16, {4, 16});
  std::string w = t.load(integers(Dtype::kI64, {1024}, 9), {1024});
  t.store_scalar(sum("i64", "i64", w, 0, "xor"), Dtype::kI64);
  std::string small = t.load(integers(Dtype::kF64, {8}, 10), {8});
  t.store_scalar(sum("f64", "f64", small, 0, "add"), Dtype::kF64);
  t.finish().check();
}

TEST_P(EmitTile, ReductionOfSeveralOperands) {
  Text t(warps());
  std::string x = t.load(integers(Dtype::kF32, {16, 128}, 11, -50, 50), {16, 128}),
              i = t.index({16, 128});
  t.line("%m: tile<16xf32>, %at: tile<16xi32> = reduce " + x + ", " + i +
         R"( {axis=1} region(%m0: f32, %i0: i32, %m1: f32, %i1: i32) {
    %gt: i1 = cmp %m0, %m1 {pred=gt}
    %eq: i1 = cmp %m0, %m1 {pred=eq}
    %lt: i1 = cmp %i0, %i1 {pred=lt}
    %tie: i1 = and %eq, %lt
    %keep: i1 = or %gt, %tie
    %mm: f32 = select %keep, %m0, %m1
    %ii: i32 = select %keep, %i0, %i1
    yield %mm, %ii
  })");
  t.store("%m", Dtype::kF32, {16});
  t.store("%at", Dtype::kI32, {16});
  t.finish().check();
}

TEST_P(EmitTile, MaskedLoadsAndStores) {
  Text t(warps());
  for (Dtype dtype : {Dtype::kI8, Dtype::kF16, Dtype::kF32, Dtype::kI64, Dtype::kI1}) {
    std::string type = name(dtype), p = t.pointer(dtype, integers(dtype, {512}, 12, 0, 1)),
                i = t.index({512});
    std::string q = t.addresses(p, dtype, {512});
    std::string n = t.value("tile<512xi32>", "splat " + t.scalar_param(Dtype::kI32, 300));
    std::string mask = t.value("tile<512xi1>", "cmp " + i + ", " + n + " {pred=lt}");
    std::string other = t.constant_tile({512}, dtype, is_float(dtype) ? "3.0" : "1");
    t.store(
        t.value("tile<512x" + type + ">", "load " + q + ", " + mask + ", " + other + " {cache=cg}"),
        dtype, {512});
    std::string v = t.value("tile<512x" + type + ">", "load " + q + ", " + mask + " {evict=first}");
    std::string out = t.pointer(dtype, integers(dtype, {512}, 13, 0, 1));
    t.line("store " + t.addresses(out, dtype, {512}) + ", " + v + ", " + mask + " {cache=wt}");
    // A scalar load and store under a scalar mask.
    std::string cond = t.value("i1", "cmp " + t.constant(Dtype::kI32, "3") + ", " +
                                         t.constant(Dtype::kI32, "5") + " {pred=gt}");
    std::string s = t.value(type, "load " + p + ", " + cond);
    t.line("store " + t.pointer(dtype, integers(dtype, {1}, 14, 1, 1)) + ", " + s);
    t.line("store " + t.pointer(dtype, integers(dtype, {1}, 14, 1, 1)) + ", " + s + ", " + cond);
  }
  t.finish().check();
}

TEST_P(EmitTile, LoopsCarryTilesScalarsAndPointers) {
  Text t(warps());
  std::string p = t.pointer(Dtype::kF32, integers(Dtype::kF32, {1024}, 15)),
              q = t.addresses(p, Dtype::kF32, {128});
  std::string zero = t.constant(Dtype::kI32, "0"), hi = t.scalar_param(Dtype::kI32, 8),
              one = t.constant(Dtype::kI32, "1");
  std::string acc = t.constant_tile({128}, Dtype::kF32, "0.0"),
              step = t.constant_tile({128}, Dtype::kI32, "128");
  t.line(
      "%sum: tile<128xf32>, %last: tile<128xf32>, %n: i32, %w: tile<128xptr<f32>> = for " + zero +
      ", " + hi + ", " + one + ", " + acc + ", " + acc + ", " + zero + ", " + q +
      R"( region(%i: i32, %s: tile<128xf32>, %l: tile<128xf32>, %c: i32, %ptr: tile<128xptr<f32>>) {
    %x: tile<128xf32> = load %ptr
    %s2: tile<128xf32> = add %s, %x
    %c2: i32 = add %c, %i
    %ptr2: tile<128xptr<f32>> = ptr_add %ptr, )" +
      step + R"(
    yield %s2, %s, %c2, %ptr2
  })");
  t.store("%sum", Dtype::kF32, {128});
  t.store("%last", Dtype::kF32, {128});
  t.store_scalar("%n", Dtype::kI32);
  // Carried values that change places, and a loop that counts down.
  std::string a = t.constant(Dtype::kI32, "1"), b = t.constant(Dtype::kI32, "2"),
              down = t.constant(Dtype::kI32, "-3");
  t.line("%x1: i32, %y1: i32, %z1: i32 = for " + hi + ", " + zero + ", " + down + ", " + a + ", " +
         b + ", " + zero +
         " region(%j: i32, %u: i32, %v: i32, %z: i32) {\n    %z2: i32 = add %z, %j\n    yield %v, "
         "%u, %z2\n  }");
  t.store_scalar("%x1", Dtype::kI32);
  t.store_scalar("%y1", Dtype::kI32);
  t.store_scalar("%z1", Dtype::kI32);
  t.finish().check();
}

TEST_P(EmitTile, RangesNearTheLimitsOfTheType) {
  Text t(warps());
  struct Range {
    Dtype dtype;
    const char *lo, *hi, *step;
  };
  const Range ranges[] = {{Dtype::kI32, "2147483000", "2147483647", "1000"},
                          {Dtype::kI32, "-2147483000", "-2147483648", "-300"},
                          {Dtype::kI64, "9223372036854775800", "9223372036854775807", "4"},
                          {Dtype::kI32, "5", "5", "2"},
                          {Dtype::kI32, "-7", "8", "5"}};
  int n = 0;
  for (const Range& r : ranges) {
    std::string id = std::to_string(n++), type = name(r.dtype);
    std::string lo = t.scalar_param(r.dtype, 0), hi = t.constant(r.dtype, r.hi);
    lo = t.value(type, "add " + lo + ", " + t.constant(r.dtype, r.lo));
    std::string zero = t.constant(r.dtype, "0"), step = t.constant(r.dtype, r.step);
    t.line("%last" + id + ": " + type + ", %turns" + id + ": " + type + " = for " + lo + ", " + hi +
           ", " + step + ", " + zero + ", " + zero + " region(%i" + id + ": " + type + ", %l" + id +
           ": " + type + ", %c" + id + ": " + type + ") {\n    %one" + id + ": " + type +
           " = const {value=1}\n    %d" + id + ": " + type + " = add %c" + id + ", %one" + id +
           "\n    yield %i" + id + ", %d" + id + "\n  }");
    t.store_scalar("%last" + id, r.dtype);
    t.store_scalar("%turns" + id, r.dtype);
  }
  t.finish().check();
}

TEST_P(EmitTile, PointersThatMoveApart) {
  // Offsets that differ by element: addresses are carried whole; nested loops walk on.
  Text t(warps());
  std::string p = t.pointer(Dtype::kI16, integers(Dtype::kI16, {4096}, 16)),
              q = t.addresses(p, Dtype::kI16, {64});
  std::string i = t.index({64}), zero = t.constant(Dtype::kI32, "0"),
              three = t.constant(Dtype::kI32, "3"), one = t.constant(Dtype::kI32, "1");
  std::string acc = t.constant_tile({64}, Dtype::kI16, "0"),
              step = t.constant_tile({64}, Dtype::kI64, "64");
  t.line("%s: tile<64xi16>, %e: tile<64xptr<i16>>, %g: tile<64xptr<i16>> = for " + zero + ", " +
         three + ", " + one + ", " + acc + ", " + q + ", " + q +
         R"( region(%k: i32, %a: tile<64xi16>, %p1: tile<64xptr<i16>>, %p2: tile<64xptr<i16>>) {
    %x: tile<64xi16> = load %p1
    %a1: tile<64xi16> = add %a, %x
    %p1n: tile<64xptr<i16>> = ptr_add %p1, )" +
         i + R"(
    %a2: tile<64xi16>, %p2n: tile<64xptr<i16>> = for )" +
         zero + ", " + three + ", " + one +
         R"(, %a1, %p2 region(%k2: i32, %b: tile<64xi16>, %p3: tile<64xptr<i16>>) {
      %y: tile<64xi16> = load %p3
      %b1: tile<64xi16> = add %b, %y
      %p4: tile<64xptr<i16>> = ptr_add %p3, )" +
         step + R"(
      yield %b1, %p4
    }
    yield %a2, %p1n, %p2n
  })");
  t.store("%s", Dtype::kI16, {64});
  t.store(t.value("tile<64xi16>", "load %e"), Dtype::kI16, {64});
  t.store(t.value("tile<64xi16>", "load %g"), Dtype::kI16, {64});
  t.finish().check();
}

TEST_P(EmitTile, WhileAndIf) {
  Text t(warps());
  std::string n = t.scalar_param(Dtype::kI32, 27), zero = t.constant(Dtype::kI32, "0"),
              one = t.constant(Dtype::kI32, "1");
  std::string two = t.constant(Dtype::kI32, "2"), three = t.constant(Dtype::kI32, "3"),
              x = t.load(integers(Dtype::kI32, {128}, 17), {128});
  t.line("%end: i32, %steps: i32, %acc: tile<128xi32> = while " + n + ", " + zero + ", " + x +
         R"( region(%v: i32, %c: i32, %a: tile<128xi32>) {
    %more: i1 = cmp %v, )" +
         one + R"( {pred=ne}
    condition %more, %v, %c, %a
  } region(%v1: i32, %c1: i32, %a1: tile<128xi32>) {
    %r: i32 = rem %v1, )" +
         two + R"(
    %even: i1 = cmp %r, )" +
         zero + R"( {pred=eq}
    %v2: i32, %a2: tile<128xi32> = if %even region() {
      %h: i32 = div %v1, )" +
         two + R"(
      yield %h, %a1
    } region() {
      %m: i32 = mul %v1, )" +
         three + R"(
      %m1: i32 = add %m, )" +
         one + R"(
      %vt: tile<128xi32> = splat %m1
      %as: tile<128xi32> = add %a1, %vt
      yield %m1, %as
    }
    %c2: i32 = add %c1, )" +
         one + R"(
    yield %v2, %c2, %a2
  })");
  t.store_scalar("%end", Dtype::kI32);
  t.store_scalar("%steps", Dtype::kI32);
  t.store("%acc", Dtype::kI32, {128});
  t.finish().check();
}

TEST_P(EmitTile, AtomicsOnTiles) {
  struct Row {
    const char* op;
    std::vector<Dtype> dtypes;
  };
  const std::vector<Dtype> ints = {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64};
  std::vector<Row> rows = {
      {"add", {Dtype::kI32, Dtype::kU64, Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64}},
      {"max", {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64, Dtype::kF32, Dtype::kF64}},
      {"min", {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64, Dtype::kF32, Dtype::kF64}},
      {"and", ints},
      {"or", ints},
      {"xor", ints},
      {"xchg", {Dtype::kI32, Dtype::kU64, Dtype::kF32, Dtype::kF64}}};
  Text t(warps());
  std::vector<int> shape = {16, 4};  // fewer elements than threads of 4 and 8 warps
  for (const Row& row : rows)
    for (Dtype dtype : row.dtypes) {
      std::string p = t.pointer(dtype, integers(dtype, shape, 18));
      std::string v = t.load(integers(dtype, shape, 19), shape);
      std::string q = t.addresses(p, dtype, shape), i = t.index(shape);
      std::string fifty = t.constant_tile(shape, Dtype::kI32, "50");
      std::string mask = t.value(tile(shape, "i1"), "cmp " + i + ", " + fifty + " {pred=lt}");
      std::string old = t.value(tile(shape, name(dtype)), "atomic_rmw " + q + ", " + v + ", " +
                                                              mask + " {op=" + row.op + "}");
      t.store(old, dtype, shape);
    }
  t.finish().check();
  if (warps() == 1) t.finish().compiles({"sm_75", "sm_90"});
}

TEST_P(EmitTile, AtomicsCollidingAndScalar) {
  Text t(warps());
  std::string p = t.pointer(Dtype::kI32, integers(Dtype::kI32, {1}, 20)),
              v = t.load(integers(Dtype::kI32, {256}, 21), {256});
  std::string q = t.value("tile<256xptr<i32>>", "splat " + p);
  t.value("tile<256xi32>", "atomic_rmw " + q + ", " + v + " {op=add, sem=relaxed, scope=cta}");
  std::string s = t.pointer(Dtype::kF32, integers(Dtype::kF32, {1}, 22)),
              two = t.constant(Dtype::kF32, "2.0");
  t.store_scalar(t.value("f32", "atomic_rmw " + s + ", " + two + " {op=add}"), Dtype::kF32);
  std::string c = t.pointer(Dtype::kI64, integers(Dtype::kI64, {1}, 23, 5, 5)),
              five = t.constant(Dtype::kI64, "5"), nine = t.constant(Dtype::kI64, "9");
  t.store_scalar(t.value("i64", "atomic_cas " + c + ", " + five + ", " + nine), Dtype::kI64);
  t.store_scalar(
      t.value("i64", "atomic_cas " + c + ", " + five + ", " + nine + " {sem=acquire, scope=sys}"),
      Dtype::kI64);
  std::string h = t.pointer(Dtype::kI16, integers(Dtype::kI16, {128}, 24, 0, 1)),
              hq = t.addresses(h, Dtype::kI16, {128});
  t.store(t.value("tile<128xi16>", "atomic_cas " + hq + ", " +
                                       t.constant_tile({128}, Dtype::kI16, "1") + ", " +
                                       t.constant_tile({128}, Dtype::kI16, "7")),
          Dtype::kI16, {128});
  t.value("f32", "atomic_rmw " + s + ", " + two + " {op=add, sem=release}");
  t.finish().check();
}

TEST_P(EmitTile, HintsAssertsBarriersAndGrid) {
  Text t(warps());
  std::string pid = t.value("i32", "program_id {axis=0}"),
              n = t.value("i32", "num_programs {axis=0}");
  std::string ok = t.value("i1", "cmp " + pid + ", " + n + " {pred=lt}");
  t.line("assume " + ok);
  t.line("assert " + ok + " {message=\"in the grid\"}");
  std::string i = t.index({256}),
              h = t.value("tile<256xi32>", "hint " + i + " {kind=multiple_of, values=[1]}");
  t.line("assert " +
         t.value("tile<256xi1>",
                 "cmp " + h + ", " + t.constant_tile({256}, Dtype::kI32, "256") + " {pred=lt}") +
         " {message=\"below\"}");
  t.line("barrier");
  std::string out = t.pointer(Dtype::kI32, zeros(Dtype::kI32, 1024));
  std::string base = t.value("i32", "mul " + pid + ", " + t.constant(Dtype::kI32, "256"));
  std::string moved = t.value("ptr<i32>", "ptr_add " + out + ", " + base);
  t.line("store " + t.addresses(moved, Dtype::kI32, {256}) + ", " + h);
  Comparison c = t.finish();
  c.grid = {4, 1, 1};
  c.check();
}

INSTANTIATE_TEST_SUITE_P(Warps, EmitTile, ::testing::Values(1, 2, 4, 8));

// ---- dots ----

struct DotCase {
  Dtype a, b, acc;
  int m, n, k, batch;
  const char* target;
  const char* attrs = "";
};

class EmitDot : public ::testing::TestWithParam<int> {};

void add_dot(Text& t, const DotCase& d) {
  auto shape = [&](int rows, int columns) {
    return d.batch > 1 ? std::vector<int>{d.batch, rows, columns} : std::vector<int>{rows, columns};
  };
  bool nibbles = std::string(d.attrs).starts_with("nibbles");
  auto operand = [&](Dtype dtype, std::vector<int> of, unsigned seed) {
    int low = nibbles ? (is_unsigned(dtype) ? 0 : -128) : is_unsigned(dtype) ? 100 : -4;
    return t.load(integers(dtype, of, seed, low, nibbles ? low + 255 : low + 8), of);
  };
  std::string a = operand(d.a, shape(d.m, d.k), 31), b = operand(d.b, shape(d.k, d.n), 32);
  std::string acc = t.load(integers(d.acc, shape(d.m, d.n), 33, -4, 4), shape(d.m, d.n));
  std::string attrs = *d.attrs ? std::string(" {") + d.attrs + "}" : "";
  std::string type = tile(shape(d.m, d.n), name(d.acc));
  t.store(t.value(type, "dot " + a + ", " + b + ", " + acc + attrs), d.acc, shape(d.m, d.n));
}

void check_dots(std::span<const DotCase> cases, int warps) {
  std::map<std::string, Text> kernels;  // one a target
  for (const DotCase& d : cases) add_dot(kernels.try_emplace(d.target, warps).first->second, d);
  for (auto& [target, text] : kernels) {
    SCOPED_TRACE(target);
    text.finish(target).check();
    if (warps == 4) text.finish(target).compiles({target});
  }
}

TEST_P(EmitDot, EveryTypeAndTarget) {
  using enum Dtype;
  const DotCase cases[] = {
      {kF16, kF16, kF32, 64, 64, 32, 1, "sm_80"},
      {kF16, kF16, kF32, 64, 32, 32, 1, "sm_75"},
      {kBF16, kBF16, kF32, 32, 64, 64, 1, "sm_90"},
      {kBF16, kBF16, kF32, 32, 32, 16, 1, "sm_75"},
      {kF32, kF32, kF32, 64, 32, 32, 1, "sm_80", "precision=tf32"},
      {kF32, kF32, kF32, 32, 32, 32, 1, "sm_80", "precision=tf32x3"},
      {kF32, kF32, kF32, 32, 32, 16, 1, "sm_80", "precision=ieee"},
      {kF32, kF32, kF32, 16, 32, 16, 1, "sm_75", "precision=tf32"},
      {kF32, kF32, kF32, 16, 32, 4, 1, "sm_80", "precision=tf32"},
      {kF64, kF64, kF64, 16, 16, 16, 1, "sm_80"},
      {kF64, kF64, kF64, 32, 16, 16, 1, "sm_90"},
      {kF64, kF64, kF64, 16, 32, 8, 1, "sm_90"},
      {kF64, kF64, kF64, 16, 16, 16, 1, "sm_75"},
      {kF16, kF16, kF32, 16, 16, 16, 4, "sm_80"},
      {kF16, kF16, kF32, 16, 8, 16, 1, "sm_80"},
      {kF32, kF32, kF32, 8, 8, 8, 2, "sm_90", "precision=ieee"},
  };
  check_dots(cases, GetParam());
}

TEST_P(EmitDot, SumsInF16) {
  using enum Dtype;
  const DotCase cases[] = {
      {kF16, kF16, kF16, 32, 32, 32, 1, "sm_89"},
      {kF16, kF16, kF16, 64, 32, 64, 1, "sm_80"},
      {kF16, kF16, kF16, 32, 32, 16, 1, "sm_75"},
      {kF16, kF16, kF16, 16, 8, 4, 1, "sm_80"},  // no instruction: multiply-adds
      {kF8E4M3, kF8E4M3, kF16, 32, 32, 64, 1, "sm_89"},
      {kF8E5M2, kF8E4M3, kF16, 32, 32, 64, 1, "sm_120"},
      {kF8E4M3, kF8E5M2, kF16, 32, 32, 32, 1, "sm_80"},
  };
  check_dots(cases, GetParam());
}

TEST_P(EmitDot, Fp8) {
  using enum Dtype;
  const DotCase cases[] = {
      {kF8E4M3, kF8E4M3, kF32, 32, 32, 64, 1, "sm_89"},
      {kF8E5M2, kF8E5M2, kF32, 32, 32, 64, 1, "sm_120"},
      {kF8E4M3, kF8E5M2, kF32, 32, 32, 64, 1, "sm_89"},
      {kF8E5M2, kF8E5M2, kF32, 32, 32, 32, 1, "sm_80"},
      {kF8E4M3, kF8E5M2, kF32, 64, 32, 64, 1, "sm_86"},
      {kF8E4M3, kF8E4M3, kF32, 32, 32, 64, 1, "sm_75"},
      {kF8E5M2, kF8E4M3, kF32, 64, 32, 64, 1, "sm_90"},
      {kF8E4M3, kF8E4M3, kF32, 32, 32, 16, 1, "sm_89"},
      {kF8E4M3, kF8E4M3, kF32, 32, 64, 128, 1, "sm_89", "max_imprecise=64"},
      {kF8E5M2, kF8E4M3, kF32, 32, 32, 64, 1, "sm_89", "max_imprecise=32"},
      {kF8E4M3, kF8E4M3, kF32, 64, 32, 64, 1, "sm_120", "max_imprecise=1024"},
  };
  check_dots(cases, GetParam());
}

TEST_P(EmitDot, Integers) {
  using enum Dtype;
  const DotCase cases[] = {
      {kI8, kI8, kI32, 64, 32, 64, 1, "sm_80"},
      {kI8, kI8, kI32, 32, 32, 32, 1, "sm_75"},
      {kU8, kU8, kI32, 32, 64, 64, 1, "sm_80"},
      {kU8, kI8, kI32, 32, 32, 32, 1, "sm_90"},
      {kI8, kU8, kI32, 16, 32, 16, 1, "sm_80"},
      {kI8, kU8, kI32, 16, 32, 32, 1, "sm_75"},
      {kU8, kI8, kI32, 16, 16, 8, 1, "sm_90"},  // no instruction: multiply-adds
      {kI8, kI8, kI32, 32, 32, 32, 1, "sm_80", "nibbles=1"},
      {kU8, kI8, kI32, 32, 32, 16, 1, "sm_80", "nibbles=1"},
      {kI8, kU8, kI32, 32, 64, 64, 1, "sm_89", "nibbles=1"},
      {kU8, kI8, kI32, 32, 32, 32, 1, "sm_90", "nibbles=1"},
      {kI8, kI8, kI32, 16, 32, 32, 2, "sm_120", "nibbles=1"},
      {kI8, kU8, kI32, 16, 32, 32, 1, "sm_75", "nibbles=1"},
      {kI8, kU8, kI32, 16, 16, 8, 1, "sm_80", "nibbles=1"},  // multiply-adds
  };
  check_dots(cases, GetParam());
}

// M and N below the instruction's: copies, not other results.
TEST_P(EmitDot, SmallTiles) {
  using enum Dtype;
  std::vector<DotCase> cases;
  for (int m : {1, 2, 8, 16})
    for (int n : {1, 4, 32}) {
      cases.push_back({kF16, kF16, kF32, m, n, 32, 1, "sm_80"});
      cases.push_back({kF16, kF16, kF16, m, n, 16, 1, "sm_75"});
      cases.push_back({kI8, kI8, kI32, m, n, 32, 1, "sm_90"});
      cases.push_back({kF32, kF32, kF32, m, n, 16, 1, "sm_90", "precision=tf32"});
      cases.push_back({kF64, kF64, kF64, m, n, 8, 1, "sm_80"});
    }
  cases.push_back({kF8E4M3, kF8E4M3, kF32, 4, 16, 64, 1, "sm_89"});
  cases.push_back({kBF16, kBF16, kF32, 8, 64, 64, 2, "sm_80"});
  check_dots(cases, GetParam());
}

TEST_P(EmitDot, OperandsTransposedAndFromADot) {
  // Two dots after each other with a transposed operand, as in attention; the first result feeds
  // the second as its left side.
  Text t(GetParam());
  std::string q = t.load(integers(Dtype::kF16, {64, 32}, 41, -2, 2), {64, 32}),
              k = t.load(integers(Dtype::kF16, {32, 32}, 42, -2, 2), {32, 32});
  std::string v = t.load(integers(Dtype::kF16, {32, 64}, 43, -2, 2), {32, 64}),
              zero = t.constant_tile({64, 32}, Dtype::kF32, "0.0");
  std::string kt = t.value("tile<32x32xf16>", "permute " + k + " {order=[1, 0]}");
  std::string s = t.value("tile<64x32xf32>", "dot " + q + ", " + kt + ", " + zero);
  std::string p = t.value("tile<64x32xf16>", "cast " + s),
              zero2 = t.constant_tile({64, 64}, Dtype::kF32, "0.0");
  t.store(t.value("tile<64x64xf32>", "dot " + p + ", " + v + ", " + zero2), Dtype::kF32, {64, 64});
  t.finish("sm_80").check();
}

// Shapes, types and targets by the hundred: there is text for each.
TEST_P(EmitDot, EveryShapeHasText) {
  using enum Dtype;
  const std::pair<Dtype, Dtype> types[] = {{kF16, kF32}, {kBF16, kF32}, {kF32, kF32},   {kI8, kI32},
                                           {kF64, kF64}, {kF16, kF16},  {kF8E4M3, kF32}};
  int count = 0;
  for (auto [operand, sum] : types)
    for (int m : {16, 64})
      for (int n : {8, 64})
        for (int k : {16, 64})
          for (const char* target : {"sm_75", "sm_80", "sm_89"}) {
            int batch = m == 16 && k == 16 ? 4 : 1;
            const char* attrs = operand == kF32 && n == 8 ? "precision=tf32x3" : "";
            Text t(GetParam());
            add_dot(t, {operand, operand, sum, m, n, k, batch, target, attrs});
            SCOPED_TRACE(name(operand) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                         std::to_string(k) + " batch " + std::to_string(batch) + " " + target);
            Result<Source> source = t.finish(target).source();
            EXPECT_TRUE(source.ok()) << source.error().text();
            ++count;
          }
  EXPECT_EQ(count, 168);
}

INSTANTIATE_TEST_SUITE_P(Warps, EmitDot, ::testing::Values(1, 2, 4, 8));

}  // namespace
}  // namespace tilewright::cuda
