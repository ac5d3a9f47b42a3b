// Loops and branches, and how scalars and tiles are carried through them.
#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

Arguments ints(size_t count, std::vector<uint64_t> scalars = {}) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 13 % 101) - 50);
  return {{Array::of(Dtype::kI32, values), Array::zeros(Dtype::kI32, count)},
          std::move(scalars),
          {1, 1, 1},
          {},
          {}};
}

const std::string kHead = R"(
kernel @k(%x: ptr<i32>, %out: ptr<i32>, %n: i32) {
  %zero: i32 = const {value=0}
  %one: i32 = const {value=1}
  %two: i32 = const {value=2}
  %r: tile<32xi32> = arange {start=0, end=32}
  %xb: tile<32xptr<i32>> = splat %x
  %xp: tile<32xptr<i32>> = ptr_add %xb, %r
  %v: tile<32xi32> = load %xp
  %ob: tile<32xptr<i32>> = splat %out
  %op: tile<32xptr<i32>> = ptr_add %ob, %r
)";

void check(const std::string& body, std::vector<uint64_t> sizes = {0, 1, 2, 7}) {
  for (uint64_t n : sizes)
    compare(kHead + body + "  return\n}\n", ints(256, {n}), "n=" + std::to_string(n));
}

TEST(Control, ScalarsCarriedByFor) {
  check(R"(
  %s: i32, %t: i32 = for %zero, %n, %one, %zero, %one region(%i: i32, %a: i32, %b: i32) {
    %c: i32 = add %a, %b
    yield %b, %c
  }
  %p: ptr<i32> = ptr_add %out, %one
  store %out, %s
  store %p, %t
)");
}

TEST(Control, StepsAndBounds) {
  for (const char* range :
       {"%two, %n, %two", "%n, %two, %one", "%m, %n, %three", "%n, %m, %down", "%high, %top, %two"})
    check(std::string(R"(
  %m: i32 = const {value=-5}
  %three: i32 = const {value=3}
  %down: i32 = const {value=-2}
  %high: i32 = const {value=2147483642}
  %top: i32 = const {value=2147483647}
  %s: i32 = for )") +
          range + R"(, %zero region(%i: i32, %a: i32) {
    %ten: i32 = const {value=10}
    %b: i32 = mul %a, %ten
    %c: i32 = add %b, %i
    yield %c
  }
  store %out, %s
)");
}

TEST(Control, SixtyFourBitAndUnsignedCounters) {
  for (const char* type : {"i64", "u32", "u64", "i8"}) {
    std::string t = type;
    check("  %lo: " + t + " = const {value=1}\n  %hi: " + t + " = cast %n\n  %st: " + t +
          " = const {value=2}\n  %z: " + t + " = const {value=0}\n  %s: " + t +
          " = for %lo, %hi, %st, %z region(%i: " + t + ", %a: " + t + ") {\n    %b: " + t +
          " = add %a, %i\n    yield %b\n  }\n  %w: i32 = cast %s\n  store %out, %w\n");
  }
}

TEST(Control, RunTimeStep) {
  check(R"(
  %m: i32 = const {value=100}
  %s: i32 = for %zero, %m, %n, %zero region(%i: i32, %a: i32) {
    %b: i32 = add %a, %i
    yield %b
  }
  store %out, %s
)",
        {1, 2, 7, 1000});
}

TEST(Control, AccumulatorTile) {
  check(R"(
  %init: tile<32xi32> = const {value=0}
  %acc: tile<32xi32> = for %zero, %n, %one, %init region(%i: i32, %a: tile<32xi32>) {
    %it: tile<32xi32> = splat %i
    %w: tile<32xi32> = mul %v, %it
    %b: tile<32xi32> = add %a, %w
    yield %b
  }
  store %op, %acc
)");
}

// All of these must read the old values before any is overwritten.
TEST(Control, SwappedAndRotatedTiles) {
  check(R"(
  %d: tile<32xi32> = add %v, %r
  %p: tile<32xi32>, %q: tile<32xi32> = for %zero, %n, %one, %v, %d
      region(%i: i32, %a: tile<32xi32>, %b: tile<32xi32>) {
    yield %b, %a
  }
  %e: tile<32xi32> = sub %p, %q
  store %op, %e
)");
  check(R"(
  %d: tile<32xi32> = add %v, %r
  %p: tile<32xi32>, %q: tile<32xi32> = for %zero, %n, %one, %v, %d
      region(%i: i32, %a: tile<32xi32>, %b: tile<32xi32>) {
    %c: tile<32xi32> = add %a, %b
    yield %b, %c
  }
  %e: tile<32xi32> = sub %p, %q
  store %op, %e
)");
}

TEST(Control, TransposedCarriedTile) {
  check(R"(
  %m: tile<4x8xi32> = reshape %v
  %t: tile<4x8xi32> = for %zero, %n, %one, %m region(%i: i32, %a: tile<4x8xi32>) {
    %b: tile<8x4xi32> = permute %a {order=[1, 0]}
    %c: tile<4x8xi32> = reshape %b
    yield %c
  }
  %f: tile<32xi32> = reshape %t
  store %op, %f
)");
}

// The carried tile is read after its next value is known.
TEST(Control, OldValueOutlivesNext) {
  check(R"(
  %t: tile<32xi32>, %s: tile<32xi32> = for %zero, %n, %one, %v, %v
      region(%i: i32, %a: tile<32xi32>, %b: tile<32xi32>) {
    %five: tile<32xi32> = const {value=5}
    %c: tile<32xi32> = div %a, %five
    %d: tile<32xi32> = rem %c, %five
    %old: tile<32xi32> = add %a, %d
    %e: tile<32xi32> = add %b, %old
    yield %c, %e
  }
  %u: tile<32xi32> = add %t, %s
  store %op, %u
)");
}

TEST(Control, NestedLoopsWithTiles) {
  check(R"(
  %t: tile<32xi32> = for %zero, %n, %one, %v region(%i: i32, %a: tile<32xi32>) {
    %u: tile<32xi32> = for %zero, %i, %one, %a region(%j: i32, %b: tile<32xi32>) {
      %jt: tile<32xi32> = splat %j
      %c: tile<32xi32> = mul %b, %jt
      %d: tile<32xi32> = add %c, %r
      yield %d
    }
    %w: tile<32xi32> = add %u, %v
    yield %w
  }
  store %op, %t
)");
}

// Addresses carried by a loop, moved by a uniform step; also used after the loop.
TEST(Control, MovingPointers) {
  check(R"(
  %init: tile<32xi32> = const {value=0}
  %four: tile<32xi32> = const {value=4}
  %stepped: i32 = add %n, %one
  %st: tile<32xi32> = splat %stepped
  %acc: tile<32xi32>, %last: tile<32xptr<i32>>, %o: tile<32xi32> = for %zero, %n, %one, %init, %xp, %r
      region(%i: i32, %a: tile<32xi32>, %p: tile<32xptr<i32>>, %q: tile<32xi32>) {
    %w: tile<32xi32> = load %p
    %b: tile<32xi32> = add %a, %w
    %d: tile<32xi32> = add %b, %q
    %next: tile<32xptr<i32>> = ptr_add %p, %four
    %moved: tile<32xi32> = add %q, %st
    yield %d, %next, %moved
  }
  %after: tile<32xi32> = load %last
  %s: tile<32xi32> = add %acc, %after
  %t: tile<32xi32> = add %s, %o
  store %op, %t
)");
}

TEST(Control, WhileWithTilesAndScalars) {
  check(R"(
  %s: i32, %t: tile<32xi32> = while %n, %v region(%a: i32, %b: tile<32xi32>) {
    %c: i1 = cmp %a, %zero {pred=gt}
    %m: i32 = sub %a, %one
    condition %c, %m, %b
  } region(%a2: i32, %b2: tile<32xi32>) {
    %d: tile<32xi32> = add %b2, %r
    yield %a2, %d
  }
  store %op, %t
  store %out, %s
)");
}

TEST(Control, Branches) {
  check(R"(
  %c: i1 = cmp %n, %one {pred=gt}
  %t: tile<32xi32>, %s: i32 = if %c region() {
    %a: tile<32xi32> = add %v, %r
    yield %a, %one
  } region() {
    yield %v, %two
  }
  %st: tile<32xi32> = splat %s
  %u: tile<32xi32> = mul %t, %st
  store %op, %u
)");
}

TEST(Control, BranchInLoopInBranch) {
  check(R"(
  %c: i1 = cmp %n, %zero {pred=gt}
  %t: tile<32xi32> = if %c region() {
    %f: tile<32xi32> = for %zero, %n, %one, %v region(%i: i32, %a: tile<32xi32>) {
      %odd: i32 = and %i, %one
      %d: i1 = cmp %odd, %zero {pred=ne}
      %g: tile<32xi32> = if %d region() {
        %h: tile<32xi32> = sub %a, %r
        yield %h
      } region() {
        %k: tile<32xi32> = add %a, %a
        yield %k
      }
      yield %g
    }
    yield %f
  } region() {
    %w: tile<32xi32> = neg %v
    yield %w
  }
  store %op, %t
)");
}

// A load stays where it stands, whatever stores follow.
TEST(Control, LoadsBeforeStores) {
  check(R"(
  %w: tile<32xi32> = load %xp
  %seven: tile<32xi32> = const {value=7}
  store %xp, %seven
  %u: tile<32xi32> = load %xp
  %s: tile<32xi32> = sub %w, %u
  store %op, %s
)");
  // Shifted by one in place: every element is read before any is written.
  check(R"(
  %ones: tile<32xi32> = const {value=1}
  %sp: tile<32xptr<i32>> = ptr_add %xp, %ones
  store %sp, %v
)");
}

}  // namespace
}  // namespace tilewright::cpu
