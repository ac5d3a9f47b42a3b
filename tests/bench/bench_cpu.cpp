// Speed of the CPU backend on one thread: GEMM, softmax, vector add, and the time to compile each.
// Run it alone on the machine: bench_cpu [threads]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "codegen/cpu/cpu.h"
#include "codegen/passes/passes.h"

namespace tilewright {
namespace {

// Time of this thread on a core, so that other work on the machine disturbs less; wall time when
// a grid runs on several.
bool single_thread = true;
double now() {
  timespec t;
  clock_gettime(single_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::shared_ptr<cpu::Kernel> build(const char* name, const std::string& text) {
  ir::Module module = ir::parse("bench.ir", text).value();
  passes::run_pipeline(module).value();
  double start = now();
  auto kernel = cpu::compile(module).value();
  std::printf("%-10s compiled in %.1f ms\n", name, 1e3 * (now() - start));
  return kernel;
}

// The best of several runs, in seconds.
template <class Run>
double best_time(Run run) {
  run();
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    double start = now();
    run();
    best = std::min(best, now() - start);
  }
  return best;
}

// C = A @ B, row-major, with wrapped rows and columns and a mask along K, as the matmul of
// kernels_lib lowers; unit strides along the rows.
std::string gemm_text(int bm, int bn, int bk) {
  std::string m = std::to_string(bm), n = std::to_string(bn), k = std::to_string(bk);
  std::string a = "tile<" + m + "x" + k + "x", b = "tile<" + k + "x" + n + "x",
              c = "tile<" + m + "x" + n + "x";
  return "kernel @gemm(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %M: i32, %N: i32, %K: i32, %lda: "
         "i32, "
         "%ldb: i32, %ldc: i32) {\n"
         "  %zero: i32 = const {value=0}\n  %one: i32 = const {value=1}\n"
         "  %pm: i32 = program_id {axis=1}\n  %pn: i32 = program_id {axis=0}\n"
         "  %bm: i32 = const {value=" +
         m + "}\n  %bn: i32 = const {value=" + n +
         "}\n"
         "  %bk: i32 = const {value=" +
         k +
         "}\n"
         "  %m0: i32 = mul %pm, %bm\n  %n0: i32 = mul %pn, %bn\n"
         "  %rm: tile<" +
         m + "xi32> = arange {start=0, end=" + m +
         "}\n"
         "  %rn: tile<" +
         n + "xi32> = arange {start=0, end=" + n +
         "}\n"
         "  %rk: tile<" +
         k + "xi32> = arange {start=0, end=" + k +
         "}\n"
         "  %m0t: tile<" +
         m + "xi32> = splat %m0\n  %Mt: tile<" + m +
         "xi32> = splat %M\n"
         "  %n0t: tile<" +
         n + "xi32> = splat %n0\n  %Nt: tile<" + n +
         "xi32> = splat %N\n"
         "  %rows: tile<" +
         m + "xi32> = add %m0t, %rm\n  %wm: tile<" + m +
         "xi32> = rem %rows, %Mt\n"
         "  %cols: tile<" +
         n + "xi32> = add %n0t, %rn\n  %wn: tile<" + n +
         "xi32> = rem %cols, %Nt\n"
         "  %me: tile<" +
         m +
         "x1xi32> = expand_dims %wm {axis=1}\n"
         "  %lda_t: tile<" +
         m + "x1xi32> = splat %lda\n  %mo: tile<" + m +
         "x1xi32> = mul %me, %lda_t\n"
         "  %mob: " +
         a +
         "i32> = broadcast %mo\n"
         "  %ke: tile<1x" +
         k + "xi32> = expand_dims %rk {axis=0}\n  %keb: " + a +
         "i32> = broadcast %ke\n"
         "  %ao: " +
         a + "i32> = add %mob, %keb\n  %ab: " + a +
         "ptr<f32>> = splat %a\n"
         "  %ap: " +
         a +
         "ptr<f32>> = ptr_add %ab, %ao\n"
         "  %kc: tile<" +
         k +
         "x1xi32> = expand_dims %rk {axis=1}\n"
         "  %ldb_t: tile<" +
         k + "x1xi32> = splat %ldb\n  %ko: tile<" + k +
         "x1xi32> = mul %kc, %ldb_t\n"
         "  %kob: " +
         b +
         "i32> = broadcast %ko\n"
         "  %ne: tile<1x" +
         n + "xi32> = expand_dims %wn {axis=0}\n  %neb: " + b +
         "i32> = broadcast %ne\n"
         "  %bo: " +
         b + "i32> = add %kob, %neb\n  %bb: " + b +
         "ptr<f32>> = splat %b\n"
         "  %bp: " +
         b +
         "ptr<f32>> = ptr_add %bb, %bo\n"
         "  %astep: " +
         a + "i32> = const {value=" + k +
         "}\n"
         "  %bstep_s: i32 = mul %ldb, %bk\n  %bstep: " +
         b +
         "i32> = splat %bstep_s\n"
         "  %init: " +
         c +
         "f32> = const {value=0.0}\n"
         "  %kk: i32 = add %K, %bk\n  %kk1: i32 = sub %kk, %one\n  %steps: i32 = div %kk1, %bk\n"
         "  %acc: " +
         c + "f32>, %x: " + a + "ptr<f32>>, %y: " + b +
         "ptr<f32>> = for %zero, %steps, %one, "
         "%init, %ap, %bp region(%i: i32, %s: " +
         c + "f32>, %p: " + a + "ptr<f32>>, %q: " + b +
         "ptr<f32>>) {\n"
         "    %done: i32 = mul %i, %bk\n    %left: i32 = sub %K, %done\n"
         "    %la: tile<1x" +
         k + "xi32> = splat %left\n    %ma: tile<1x" + k +
         "xi1> = cmp %ke, %la {pred=lt}\n"
         "    %mab: " +
         a +
         "i1> = broadcast %ma\n"
         "    %lb: tile<" +
         k + "x1xi32> = splat %left\n    %mb: tile<" + k +
         "x1xi1> = cmp %kc, %lb {pred=lt}\n"
         "    %mbb: " +
         b +
         "i1> = broadcast %mb\n"
         "    %av: " +
         a + "f32> = load %p, %mab\n    %bv: " + b +
         "f32> = load %q, %mbb\n"
         "    %t: " +
         c +
         "f32> = dot %av, %bv, %s {precision=ieee}\n"
         "    %p2: " +
         a + "ptr<f32>> = ptr_add %p, %astep\n    %q2: " + b +
         "ptr<f32>> = ptr_add %q, %bstep\n"
         "    yield %t, %p2, %q2\n  }\n"
         "  %re: tile<" +
         m +
         "x1xi32> = expand_dims %rows {axis=1}\n"
         "  %ldc_t: tile<" +
         m + "x1xi32> = splat %ldc\n  %ro: tile<" + m +
         "x1xi32> = mul %re, %ldc_t\n"
         "  %rob: " +
         c +
         "i32> = broadcast %ro\n"
         "  %ce: tile<1x" +
         n + "xi32> = expand_dims %cols {axis=0}\n  %ceb: " + c +
         "i32> = broadcast %ce\n"
         "  %co: " +
         c + "i32> = add %rob, %ceb\n  %cb: " + c +
         "ptr<f32>> = splat %c\n"
         "  %cp: " +
         c +
         "ptr<f32>> = ptr_add %cb, %co\n"
         "  %Me: tile<" +
         m + "x1xi32> = splat %M\n  %rmask: tile<" + m +
         "x1xi1> = cmp %re, %Me {pred=lt}\n"
         "  %Ne: tile<1x" +
         n + "xi32> = splat %N\n  %cmask: tile<1x" + n +
         "xi1> = cmp %ce, %Ne {pred=lt}\n"
         "  %rmb: " +
         c + "i1> = broadcast %rmask\n  %cmb: " + c +
         "i1> = broadcast %cmask\n"
         "  %mask: " +
         c + "i1> = and %rmb, %cmb\n  store %cp, %acc, %mask\n  return\n}\n";
}

void bench_gemm(int size, int bm, int bn, int bk, int threads) {
  auto kernel = build("gemm", gemm_text(bm, bn, bk));
  auto n = static_cast<size_t>(size);
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7) - 3;
    b[i] = static_cast<float>(i % 5) - 2;
  }
  auto u = static_cast<uint64_t>(size);
  uint64_t slots[] = {reinterpret_cast<uint64_t>(a.data()),
                      reinterpret_cast<uint64_t>(b.data()),
                      reinterpret_cast<uint64_t>(c.data()),
                      u,
                      u,
                      u,
                      u,
                      u,
                      u};
  Launch launch{
      {static_cast<uint32_t>((size + bn - 1) / bn), static_cast<uint32_t>((size + bm - 1) / bm), 1},
      slots};
  double time = best_time([&] { kernel->run(launch, threads).value(); });
  double want = 0;
  for (size_t k = 0; k < n; ++k) want += a[3 * n + k] * b[k * n + 5];
  std::printf("gemm %d^3, tiles %dx%dx%d: %.2f ms, %.1f GFLOP/s%s\n", size, bm, bn, bk, 1e3 * time,
              2e-9 * std::pow(size, 3) / time,
              c[3 * n + 5] == static_cast<float>(want) ? "" : " WRONG");
}

const char* const kSoftmax = R"(
kernel @softmax(%x: ptr<f32>, %out: ptr<f32>, %n: i32) {
  %row: i32 = program_id {axis=0}
  %start: i32 = mul %row, %n
  %r: tile<1024xi32> = arange {start=0, end=1024}
  %nt: tile<1024xi32> = splat %n
  %mask: tile<1024xi1> = cmp %r, %nt {pred=lt}
  %xr: ptr<f32> = ptr_add %x, %start
  %xb: tile<1024xptr<f32>> = splat %xr
  %xp: tile<1024xptr<f32>> = ptr_add %xb, %r
  %low: tile<1024xf32> = const {value=-inf}
  %v: tile<1024xf32> = load %xp, %mask, %low
  %top: f32 = reduce %v {axis=0} region(%a: f32, %b: f32) {
    %c: f32 = max %a, %b
    yield %c
  }
  %tt: tile<1024xf32> = splat %top
  %d: tile<1024xf32> = sub %v, %tt
  %e: tile<1024xf32> = exp %d
  %sum: f32 = reduce %e {axis=0} region(%f: f32, %g: f32) {
    %h: f32 = add %f, %g
    yield %h
  }
  %st: tile<1024xf32> = splat %sum
  %y: tile<1024xf32> = div %e, %st
  %or: ptr<f32> = ptr_add %out, %start
  %ob: tile<1024xptr<f32>> = splat %or
  %op: tile<1024xptr<f32>> = ptr_add %ob, %r
  store %op, %y, %mask
  return
}
)";

const char* const kAdd = R"(
kernel @add(%x: ptr<f32>, %y: ptr<f32>, %out: ptr<f32>, %n: i32) {
  %pid: i32 = program_id {axis=0}
  %size: i32 = const {value=1024}
  %start: i32 = mul %pid, %size
  %st: tile<1024xi32> = splat %start
  %r: tile<1024xi32> = arange {start=0, end=1024}
  %at: tile<1024xi32> = add %st, %r
  %nt: tile<1024xi32> = splat %n
  %mask: tile<1024xi1> = cmp %at, %nt {pred=lt}
  %xb: tile<1024xptr<f32>> = splat %x
  %xp: tile<1024xptr<f32>> = ptr_add %xb, %at
  %a: tile<1024xf32> = load %xp, %mask
  %yb: tile<1024xptr<f32>> = splat %y
  %yp: tile<1024xptr<f32>> = ptr_add %yb, %at
  %b: tile<1024xf32> = load %yp, %mask
  %c: tile<1024xf32> = add %a, %b
  %ob: tile<1024xptr<f32>> = splat %out
  %op: tile<1024xptr<f32>> = ptr_add %ob, %at
  store %op, %c, %mask
  return
}
)";

void bench_softmax(size_t rows, size_t cols, int threads) {
  auto kernel = build("softmax", kSoftmax);
  std::vector<float> x(rows * cols), y(rows * cols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) * 0.1f;
  uint64_t slots[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()),
                      cols};
  Launch launch{{static_cast<uint32_t>(rows), 1, 1}, slots};
  double time = best_time([&] { kernel->run(launch, threads).value(); });
  std::printf("softmax %zux%zu: %.3f ms, %.1f GB/s\n", rows, cols, 1e3 * time,
              8e-9 * static_cast<double>(rows * cols) / time);
}

void bench_add(size_t n, int threads) {
  auto kernel = build("add", kAdd);
  std::vector<float> x(n, 1), y(n, 2), out(n);
  uint64_t slots[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()),
                      reinterpret_cast<uint64_t>(out.data()), n};
  Launch launch{{static_cast<uint32_t>((n + 1023) / 1024), 1, 1}, slots};
  double time = best_time([&] { kernel->run(launch, threads).value(); });
  double copy = best_time([&] {
    for (size_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
  });
  std::printf("add of %zu: %.3f ms, %.1f GB/s (a plain loop: %.1f GB/s)\n", n, 1e3 * time,
              12e-9 * static_cast<double>(n) / time, 12e-9 * static_cast<double>(n) / copy);
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  using namespace tilewright;
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  single_thread = threads == 1;
  std::printf("%s, %d thread(s)\n", cpu::target_description().c_str(), threads);
  bench_gemm(1024, 64, 64, 64, threads);
  bench_gemm(1024, 64, 128, 64, threads);
  bench_gemm(1024, 128, 128, 64, threads);
  bench_gemm(1024, 128, 128, 32, threads);
  bench_gemm(1000, 128, 128, 32, threads);
  bench_softmax(1823, 781, threads);
  bench_add(1 << 14, threads);
  bench_add(1 << 24, threads);
}
