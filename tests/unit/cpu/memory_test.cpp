// Loads and stores: every access pattern under masks, with the memory behind masked-off elements
// unmapped; atomics from many programs; failures; threads.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

// `bytes` of memory that end where an unmapped page begins.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_t pages = (bytes + page_ - 1) / page_;
    length_ = (pages + 2) * page_;
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page_, pages * page_, PROT_READ | PROT_WRITE);
    data_ = base_ + page_ + pages * page_ - bytes;
  }
  ~GuardedMemory() { munmap(base_, length_); }
  unsigned char* data() const { return data_; }

 private:
  size_t page_, length_ = 0;
  unsigned char *base_ = nullptr, *data_ = nullptr;
};

std::string name(Dtype dtype) {
  return std::string(dtype_name(dtype));
}

// out[i] = x[at(i)] for i < n, by a load and a store that are masked; `at` gives %at from %r.
std::string copy_kernel(Dtype dtype, const std::string& at, bool with_other) {
  std::string e = name(dtype), other = is_float(dtype) ? "1.0" : "1";
  return "kernel @k(%x: ptr<" + e + ">, %out: ptr<" + e + ">, %n: i32, %one: i32) {\n" + R"(
  %r: tile<64xi32> = arange {start=0, end=64}
  %nt: tile<64xi32> = splat %n
  %mask: tile<64xi1> = cmp %r, %nt {pred=lt}
)" + at + "  %xb: tile<64xptr<" +
         e + ">> = splat %x\n  %xp: tile<64xptr<" + e +
         ">> = ptr_add %xb, %at\n  %other: tile<64x" + e + "> = const {value=" + other +
         "}\n  %v: tile<64x" + e + "> = load %xp, %mask" + (with_other ? ", %other" : "") +
         "\n  %ob: tile<64xptr<" + e + ">> = splat %out\n  %op: tile<64xptr<" + e +
         ">> = ptr_add %ob, %at\n  store %op, %v, %mask\n  return\n}\n";
}

Array small_ints(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(i * 5 % 17);
  return Array::of(Dtype::kI32, values);
}

const char* const kPatterns[] = {
    "  %at: tile<64xi32> = hint %r {kind=multiple_of, values=[1]}\n",       // contiguous
    "  %w: tile<64xi32> = splat %one\n  %at: tile<64xi32> = mul %r, %w\n",  // run-time stride 1
    "  %two: tile<64xi32> = const {value=2}\n  %at: tile<64xi32> = mul %r, %two\n",  // strided
    "  %m: tile<64xi32> = const {value=63}\n  %five: tile<64xi32> = const {value=37}\n"
    "  %f: tile<64xi32> = mul %r, %five\n  %at: tile<64xi32> = and %f, %m\n",  // scattered
    "  %at: tile<64xi32> = const {value=0}\n",                                 // one address
};

TEST(Memory, MaskedOffElementsAreNotTouched) {
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kF16, Dtype::kI32, Dtype::kF32, Dtype::kF64})
    for (size_t p = 0; p < std::size(kPatterns); ++p) {
      auto size = static_cast<size_t>(dtype_bytes(dtype));
      ir::Module module = parse_ir(copy_kernel(dtype, kPatterns[p], false));
      auto kernel = compile(module);
      ASSERT_TRUE(kernel.ok()) << kernel.error().text();
      for (size_t n : {0u, 1u, 5u, 33u, 63u}) {
        SCOPED_TRACE(name(dtype) + " pattern " + std::to_string(p) + " n " + std::to_string(n));
        // The last element that a lane below n touches is the last one mapped.
        size_t last = 0;
        for (size_t i = 0; i < n; ++i)
          last = std::max(last, p <= 1 ? i : p == 2 ? 2 * i : p == 3 ? (i * 37) % 64 : 0);
        size_t count = n == 0 ? 0 : last + 1;
        GuardedMemory x(count * size), out(count * size);
        for (size_t i = 0; i < count * size; ++i)
          x.data()[i] = dtype == Dtype::kI1 ? static_cast<unsigned char>(i & 1)
                                            : static_cast<unsigned char>(i * 31 + 1);
        uint64_t slots[] = {reinterpret_cast<uint64_t>(x.data()),
                            reinterpret_cast<uint64_t>(out.data()), n, 1};
        ASSERT_TRUE((*kernel)->run({{1, 1, 1}, slots}).ok());
        for (size_t i = 0; i < n; ++i) {
          size_t at = p <= 1 ? i : p == 2 ? 2 * i : p == 3 ? (i * 37) % 64 : 0;
          EXPECT_EQ(std::memcmp(out.data() + at * size, x.data() + at * size, size), 0) << i;
        }
      }
    }
}

TEST(Memory, OtherAndZeroForMaskedOffElements) {
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kF8E4M3, Dtype::kF16, Dtype::kBF16,
                      Dtype::kI32, Dtype::kF32, Dtype::kI64})
    for (const char* pattern : kPatterns)
      for (bool with_other : {false, true})
        for (uint64_t n : {5}) {
          // Everything is stored, masked-off values included.
          std::string text = copy_kernel(dtype, pattern, with_other);
          text.replace(text.find("ptr_add %ob, %at"), 16, "ptr_add %ob, %r");
          text.replace(text.find("store %op, %v, %mask"), 20, "store %op, %v");
          std::vector<double> values;
          for (int i = 0; i < 128; ++i) values.push_back(dtype == Dtype::kI1 ? i & 1 : i % 13);
          compare(text,
                  {{Array::of(dtype, values), Array::zeros(dtype, 128)}, {n, 1}, {1, 1, 1}, {}, {}},
                  name(dtype) + pattern);
        }
}

TEST(Memory, BooleansAreBytes) {
  std::string text = R"(
kernel @k(%x: ptr<i1>, %out: ptr<i1>, %flag: i1) {
  %r: tile<32xi32> = arange {start=0, end=32}
  %xb: tile<32xptr<i1>> = splat %x
  %xp: tile<32xptr<i1>> = ptr_add %xb, %r
  %v: tile<32xi1> = load %xp
  %n: tile<32xi1> = not %v
  %ob: tile<32xptr<i1>> = splat %out
  %op: tile<32xptr<i1>> = ptr_add %ob, %r
  store %op, %n
  store %out, %flag
  return
}
)";
  std::vector<uint64_t> bytes;
  for (uint64_t i = 0; i < 32; ++i) bytes.push_back(i % 3 == 0 ? 0 : i * 8);
  compare(text, {{Array(Dtype::kI1, bytes), Array::zeros(Dtype::kI1, 32)}, {4}, {1, 1, 1}, {}, {}});
}

// Masks by row and column over two dimensions, with a row stride known at run time only.
TEST(Memory, TwoDimensionsWithStrides) {
  std::string text = R"(
kernel @k(%x: ptr<f32>, %out: ptr<f32>, %m: i32, %n: i32, %stride: i32) {
  %r: tile<16xi32> = arange {start=0, end=16}
  %c: tile<32xi32> = arange {start=0, end=32}
  %re: tile<16x1xi32> = expand_dims %r {axis=1}
  %ce: tile<1x32xi32> = expand_dims %c {axis=0}
  %mt: tile<16x1xi32> = splat %m
  %nt: tile<1x32xi32> = splat %n
  %rm: tile<16x1xi1> = cmp %re, %mt {pred=lt}
  %cm: tile<1x32xi1> = cmp %ce, %nt {pred=lt}
  %rmb: tile<16x32xi1> = broadcast %rm
  %cmb: tile<16x32xi1> = broadcast %cm
  %mask: tile<16x32xi1> = and %rmb, %cmb
  %st: tile<16x1xi32> = splat %stride
  %ro: tile<16x1xi32> = mul %re, %st
  %rob: tile<16x32xi32> = broadcast %ro
  %cb: tile<16x32xi32> = broadcast %ce
  %at: tile<16x32xi32> = add %rob, %cb
  %xb: tile<16x32xptr<f32>> = splat %x
  %xp: tile<16x32xptr<f32>> = ptr_add %xb, %at
  %v: tile<16x32xf32> = load %xp, %mask
  %w: tile<16x32xf32> = add %v, %v
  %ob: tile<16x32xptr<f32>> = splat %out
  %op: tile<16x32xptr<f32>> = ptr_add %ob, %at
  store %op, %w, %mask
  return
}
)";
  std::vector<double> values;
  for (int i = 0; i < 16 * 40; ++i) values.push_back(i * 0.5);
  for (uint64_t m : {0, 3, 16})
    for (uint64_t n : {1, 17, 32})
      compare(text, {{Array::of(Dtype::kF32, values), Array::zeros(Dtype::kF32, values.size())},
                     {m, n, 37},
                     {1, 1, 1},
                     {},
                     {}});
}

// A store whose loads may be done in its own loop: apart, in place, and overlapping by any
// distance.
TEST(Memory, LoadsOfAStoreThatMayOverlap) {
  std::string text = R"(
kernel @k(%x: ptr<f32>, %from: i32, %to: i32, %n: i32) {
  %r: tile<64xi32> = arange {start=0, end=64}
  %nt: tile<64xi32> = splat %n
  %mask: tile<64xi1> = cmp %r, %nt {pred=lt}
  %a: ptr<f32> = ptr_add %x, %from
  %b: ptr<f32> = ptr_add %x, %to
  %as: tile<64xptr<f32>> = splat %a
  %bs: tile<64xptr<f32>> = splat %b
  %ap: tile<64xptr<f32>> = ptr_add %as, %r
  %bp: tile<64xptr<f32>> = ptr_add %bs, %r
  %xs: tile<64xptr<f32>> = splat %x
  %xp: tile<64xptr<f32>> = ptr_add %xs, %r
  %v: tile<64xf32> = load %ap, %mask
  %w: tile<64xf32> = load %xp
  %y: tile<64xf32> = add %v, %w
  store %bp, %y, %mask
  return
}
)";
  std::vector<double> values;
  for (int i = 0; i < 256; ++i) values.push_back(i % 29);
  for (auto [from, to] : std::vector<std::pair<uint64_t, uint64_t>>{{64, 128},
                                                                    {128, 64},
                                                                    {64, 64},
                                                                    {0, 0},
                                                                    {64, 65},
                                                                    {65, 64},
                                                                    {64, 80},
                                                                    {80, 64},
                                                                    {0, 16},
                                                                    {16, 0},
                                                                    {64, 127},
                                                                    {0, 64}})
    for (uint64_t n : {64, 50})
      compare(text, {{Array::of(Dtype::kF32, values)}, {from, to, n}, {1, 1, 1}, {}, {}},
              std::to_string(from) + " to " + std::to_string(to));
}

// The mask of a deferred load is in a buffer, which must last until the store.
TEST(Memory, DeferredLoadKeepsItsMask) {
  compare(R"(
kernel @k(%x: ptr<i32>, %out: ptr<i32>) {
  %r: tile<32xi32> = arange {start=0, end=32}
  %xs: tile<32xptr<i32>> = splat %x
  %xp: tile<32xptr<i32>> = ptr_add %xs, %r
  %os: tile<32xptr<i32>> = splat %out
  %op: tile<32xptr<i32>> = ptr_add %os, %r
  %m: tile<32xi32> = load %xp
  %three: tile<32xi32> = const {value=3}
  %rest: tile<32xi32> = rem %m, %three
  %zero: tile<32xi32> = const {value=0}
  %mask: tile<32xi1> = cmp %rest, %zero {pred=eq}
  store %xp, %zero, %mask
  %v: tile<32xi32> = load %xp, %mask, %m
  %sum: i32 = reduce %m {axis=0} region(%a: i32, %b: i32) {
    %c: i32 = add %a, %b
    yield %c
  }
  %st: tile<32xi32> = splat %sum
  %y: tile<32xi32> = add %v, %st
  store %op, %y
  return
}
)",
          {{small_ints(64), Array::zeros(Dtype::kI32, 64)}, {}, {1, 1, 1}, {}, {}});
}

// ---- atomics ----

std::string atomic_kernel(Dtype dtype, const std::string& op) {
  std::string e = name(dtype);
  return "kernel @k(%x: ptr<" + e + ">, %v: ptr<" + e + ">, %old: ptr<" + e + ">) {\n" + R"(
  %r: tile<32xi32> = arange {start=0, end=32}
  %limit: tile<32xi32> = const {value=27}
  %mask: tile<32xi1> = cmp %r, %limit {pred=lt}
  %three: tile<32xi32> = const {value=3}
  %at: tile<32xi32> = and %r, %three
)" + "  %xb: tile<32xptr<" +
         e + ">> = splat %x\n  %xp: tile<32xptr<" + e +
         ">> = ptr_add %xb, %at\n  %vb: tile<32xptr<" + e + ">> = splat %v\n  %vp: tile<32xptr<" +
         e + ">> = ptr_add %vb, %r\n  %w: tile<32x" + e + "> = load %vp\n  %o: tile<32x" + e +
         "> = atomic_rmw %xp, %w, %mask {op=" + op + "}\n  %ob: tile<32xptr<" + e +
         ">> = splat %old\n  %op: tile<32xptr<" + e + ">> = ptr_add %ob, %r\n  store %op, %o\n" +
         "  %s: " + e + " = load %v\n  %t: " + e + " = atomic_rmw %x, %s {op=" + op +
         ", sem=relaxed}\n  store %old, %t\n  return\n}\n";
}

TEST(Atomics, EveryOpAndType) {
  auto check = [](Dtype dtype, const char* op) {
    Random random(4);
    std::vector<double> x, v;
    for (int i = 0; i < 4; ++i) x.push_back(static_cast<double>(random.between(-50, 50)));
    for (int i = 0; i < 32; ++i) v.push_back(static_cast<double>(random.between(-90, 90)));
    if (is_float(dtype)) v[3] = -0.0, v[7] = 0.0, v[9] = NAN, v[12] = INFINITY;
    compare(atomic_kernel(dtype, op),
            {{Array::of(dtype, x), Array::of(dtype, v), Array::zeros(dtype, 32)},
             {},
             {1, 1, 1},
             {},
             {}},
            std::string(op) + " " + name(dtype));
  };
  for (Dtype dtype : {Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64})
    for (const char* op : {"add", "max", "min", "and", "or", "xor", "xchg"}) check(dtype, op);
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64})
    for (const char* op : {"add", "max", "min", "xchg"}) check(dtype, op);
  for (Dtype dtype : {Dtype::kF16, Dtype::kBF16}) check(dtype, "add");
}

TEST(Atomics, CompareAndSwap) {
  for (Dtype dtype :
       {Dtype::kI16, Dtype::kI32, Dtype::kU64, Dtype::kF16, Dtype::kF32, Dtype::kF64}) {
    std::string e = name(dtype), two = is_float(dtype) ? "2.0" : "2",
                nine = is_float(dtype) ? "9.0" : "9";
    std::string text = "kernel @k(%x: ptr<" + e + ">, %out: ptr<" + e + ">) {\n" +
                       "  %r: tile<16xi32> = arange {start=0, end=16}\n  %b: tile<16xptr<" + e +
                       ">> = splat %x\n  %p: tile<16xptr<" + e +
                       ">> = ptr_add %b, %r\n  %c: tile<16x" + e + "> = const {value=" + two +
                       "}\n  %v: tile<16x" + e + "> = const {value=" + nine + "}\n  %o: tile<16x" +
                       e + "> = atomic_cas %p, %c, %v\n  %ob: tile<16xptr<" + e +
                       ">> = splat %out\n  %q: tile<16xptr<" + e +
                       ">> = ptr_add %ob, %r\n  store %q, %o\n  return\n}\n";
    std::vector<double> x;
    for (int i = 0; i < 16; ++i) x.push_back(i % 4);
    compare(text, {{Array::of(dtype, x), Array::zeros(dtype, 16)}, {}, {1, 1, 1}, {}, {}}, e);
  }
}

TEST(Atomics, ManyProgramsOnOneAddress) {
  for (Dtype dtype : {Dtype::kI32, Dtype::kF32, Dtype::kF64, Dtype::kF16}) {
    std::string e = name(dtype), one = is_float(dtype) ? "1.0" : "1";
    ir::Module module =
        parse_ir("kernel @k(%x: ptr<" + e + ">) {\n  %v: " + e + " = const {value=" + one +
                 "}\n  %o: " + e + " = atomic_rmw %x, %v {op=add}\n  return\n}\n");
    auto kernel = compile(module);
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    Array x = Array::zeros(dtype, 1);
    uint64_t slot = reinterpret_cast<uint64_t>(x.data());
    uint32_t programs = dtype == Dtype::kF16 ? 2000 : 100000;  // exact in f16
    ASSERT_TRUE((*kernel)->run({{programs, 1, 1}, {&slot, 1}}, 8).ok());
    EXPECT_EQ(x.value(0), programs) << e;
  }
}

// A lock guards a read-modify-write by plain loads and stores.
TEST(Atomics, SpinLock) {
  ir::Module module = parse_ir(R"(
kernel @k(%lock: ptr<i32>, %count: ptr<i64>) {
  %zero: i32 = const {value=0}
  %one: i32 = const {value=1}
  %unit: i64 = const {value=1}
  while region() {
    %seen: i32 = atomic_cas %lock, %zero, %one
    %taken: i1 = cmp %seen, %one {pred=eq}
    condition %taken
  } region() {
    yield
  }
  %a: i64 = load %count
  %b: i64 = add %a, %unit
  store %count, %b
  barrier
  %free: i32 = atomic_rmw %lock, %zero {op=xchg}
  return
}
)");
  auto kernel = compile(module);
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  int32_t lock = 0;
  int64_t count = 0;
  uint64_t slots[] = {reinterpret_cast<uint64_t>(&lock), reinterpret_cast<uint64_t>(&count)};
  ASSERT_TRUE((*kernel)->run({{20000, 1, 1}, slots}, 4).ok());
  EXPECT_EQ(count, 20000);
  EXPECT_EQ(lock, 0);
}

// ---- failures ----

TEST(Failures, AssertNamesTheFirstProgramAndElement) {
  std::string text = R"(
kernel @k(%out: ptr<i32>, %bad: i32) {
  %pid: i32 = program_id {axis=0}
  %r: tile<32xi32> = arange {start=0, end=32}
  %pt: tile<32xi32> = splat %pid
  %sum: tile<32xi32> = add %pt, %r
  %bt: tile<32xi32> = splat %bad
  %fine: tile<32xi1> = cmp %sum, %bt {pred=lt}
  %ten: tile<32xi32> = const {value=29}
  %mask: tile<32xi1> = cmp %r, %ten {pred=lt}
  assert %fine, %mask {message="sum is too large"}
  %p: ptr<i32> = ptr_add %out, %pid
  store %p, %pid
  return
}
)";
  ir::Module module = parse_ir(text);
  SourceMap sources;
  sources.add("assert.ir", text);
  Options options;
  options.debug_sources = &sources;
  std::vector<int32_t> out(300, -1);
  for (bool with_sources : {false, true}) {
    auto kernel = compile(module, with_sources ? options : Options{});
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    for (int threads : {1, 4}) {
      uint64_t slots[] = {reinterpret_cast<uint64_t>(out.data()), 50};
      Launch launch{{300, 1, 1}, slots};
      Status ran = (*kernel)->run(launch, threads);
      ASSERT_FALSE(ran.ok());
      EXPECT_EQ(ran.error().kind, DiagKind::kAssertFailed);
      EXPECT_EQ(
          ran.error().message,
          "assertion failed: sum is too large, at element 28, in `assert` of program (22, 0, 0)");
      EXPECT_EQ(ran.error().details.find("assert.ir:11:3: error:") == 0, with_sources)
          << ran.error().details;
      // The same text as the interpreter's, up to the place.
      Status interpreted = interp::run(module, launch);
      ASSERT_FALSE(interpreted.ok());
      EXPECT_EQ(interpreted.error().message.find(ran.error().message), 0u)
          << interpreted.error().message;
      for (int i = 0; i < 22; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i);
    }
  }
}

TEST(Failures, StepOfZero) {
  ir::Module module = parse_ir(R"(
kernel @k(%out: ptr<i32>, %n: i32) {
  %zero: i32 = const {value=0}
  %s: i32 = for %zero, %n, %n, %zero region(%i: i32, %a: i32) {
    yield %i
  }
  store %out, %s
  return
}
)");
  auto kernel = compile(module);
  ASSERT_TRUE(kernel.ok());
  int32_t out = 7;
  uint64_t slots[] = {reinterpret_cast<uint64_t>(&out), 0};
  Status ran = (*kernel)->run({{1, 1, 1}, slots});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().kind, DiagKind::kBadLoopStep);
  EXPECT_EQ(out, 7);
}

TEST(Run, FromManyThreadsAtOnce) {
  ir::Module module = parse_ir(copy_kernel(Dtype::kF32, kPatterns[0], false));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto kernel = compile(module);  // several kernels in one process, compiled at once
      if (!kernel.ok()) return void(++wrong);
      std::vector<float> x(64, static_cast<float>(t)), out(64, -1);
      for (int i = 0; i < 50; ++i) {
        std::fill(out.begin(), out.end(), -1.0f);
        uint64_t slots[] = {reinterpret_cast<uint64_t>(x.data()),
                            reinterpret_cast<uint64_t>(out.data()), 64, 1};
        if (!(*kernel)->run({{3, 2, 1}, slots}, 3).ok() || out != x) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Run, EmptyGridDoesNothing) {
  auto kernel = compile(parse_ir(copy_kernel(Dtype::kF32, kPatterns[0], false)));
  ASSERT_TRUE(kernel.ok());
  uint64_t slots[] = {0, 0, 64, 1};
  EXPECT_TRUE((*kernel)->run({{0, 1, 1}, slots}).ok());
}

}  // namespace
}  // namespace tilewright::cpu
