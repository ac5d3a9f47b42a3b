// Machine code read without NVIDIA's tools: loops of kernels whose loops are known, and, where
// nvdisasm is installed, every mnemonic, width and branch target beside its own.
#include "codegen/cuda/sass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include "codegen/cuda/disassembler.h"
#include "codegen/cuda/nvrtc_loader.h"
#include "tests/unit/cuda/every_target.h"

namespace tilewright::cuda {
namespace {

using sass::Class;

Source source(std::string text) {
  Source out;
  out.text = std::move(text);
  out.entry = "k";
  return out;
}

// Two loops in a row, the second with one inside.
constexpr const char* kLoops = R"(
extern "C" __global__ void k(float* p, unsigned n, unsigned s, unsigned* q) {
  __shared__ float buffer[256];
  float x = 0;
#pragma unroll 1
  for (unsigned i = 0; i < n; ++i) {
    x += p[i * s];
    if (x > 100.0f) q[i] = i;
    __syncthreads();  // keeps ptxas from unrolling on sm_100 and later
  }
#pragma unroll 1
  for (unsigned i = 0; i < n; ++i) {
    buffer[threadIdx.x] = x;
    __syncthreads();
#pragma unroll 1
    for (unsigned j = i; j < s; j += 2) x = x * buffer[j] + buffer[j + 1];
    __syncthreads();
  }
  p[threadIdx.x] = x;
}
)";

// An instruction of every kind that the emitter's prelude has.
std::string many_instructions(const Target& target) {
  std::string text = R"(
extern "C" __global__ void k(unsigned* p, float* f, double* g, unsigned s, unsigned long long* q,
                             unsigned short* h, signed char* b8) {
  unsigned a = p[0], b = p[1], c = p[2], d = p[3], e = p[4];
  float x = f[0], y = f[1], z = f[2], w = f[3];
  double u = g[0], v = g[1];
  unsigned short H = h[0];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a), "r"(b), "r"(c));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];" : "=r"(a) : "r"(s));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];" : "=r"(a), "=r"(b) : "r"(s));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s));
  asm volatile("ld.shared.u8 %0,[%1];" : "=r"(e) : "r"(s)); if (e) p[9] = e;
  asm volatile("ld.shared.u16 %0,[%1];" : "=h"(H) : "r"(s)); if (H) p[9] = H;
  asm volatile("ld.shared.v2.b32 {%0,%1},[%2];" : "=r"(a), "=r"(b) : "r"(s)); p[10] = a ^ b;
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s)); p[11] = a ^ b ^ c ^ d;
  asm volatile("st.shared.u8 [%1],%0;" :: "r"(a), "r"(s));
  asm volatile("st.shared.v2.b32 [%2],{%0,%1};" :: "r"(a), "r"(b), "r"(s));
  asm volatile("ld.global.v4.b32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
  asm volatile("ld.global.u16 %0,[%1];" : "=h"(H) : "l"(p)); if (H) h[4] = H;
  asm volatile("st.global.v2.b32 [%2],{%0,%1};" :: "r"(a), "r"(b), "l"(p));
  asm volatile("ld.u32 %0,[%1];" : "=r"(e) : "l"(p + 3)); asm volatile("st.u32 [%1],%0;" :: "r"(e), "l"(p + 8));
  a += __shfl_xor_sync(0xffffffffu, a, 1); b = __ballot_sync(0xffffffffu, a > b);
  atomicAdd(p + 20, a); e += atomicAdd(p + 21, b); e += atomicCAS(p + 22, a, b); atomicAdd(f + 23, x);
  x = __fmaf_rn(x, y, z); y = exp2f(y); z = x / y; w = fmaxf(x, w) + sqrtf(w);
  u = u * v + 3.0; v = fmax(u, v);
  c = a / b; d = (int)x; w += (float)(int)c; x += (float)h[a & 3]; c = __popc(c) + __clz(d) + __brev(e);
  c = max(min((int)a, (int)b), (int)c) + __umulhi(a, b) + (a >> (b & 31)) + __byte_perm(a, b, c);
  q[0] = q[1] * q[2] + (q[3] >> a);
  asm volatile("fma.rn.f16x2 %0,%1,%2,%0;" : "+r"(a) : "r"(b), "r"(c));
  asm volatile("add.f16x2 %0,%1,%0;" : "+r"(a) : "r"(b));
#pragma unroll 1
  for (unsigned i = 0; i < a; ++i) { b8[i] = (signed char)(b8[i] * 3); __syncthreads(); }
  __threadfence(); __syncwarp();
)";
  if (target.sm >= 80)
    text += R"(
  asm volatile("cvt.rn.f16x2.f32 %0,%1,%2;" : "=r"(d) : "f"(x), "f"(y));
  asm volatile("cp.async.ca.shared.global [%0],[%1],4;" :: "r"(s), "l"(p));
  asm volatile("cp.async.ca.shared.global [%0],[%1],8;" :: "r"(s), "l"(p));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0],[%1],16;" :: "r"(s), "l"(p));
  asm volatile("cp.async.commit_group; cp.async.wait_group 2;" ::);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%0,%1},{%4,%5},{%0,%1,%2,%3};" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(e), "r"(s));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%2},{%0,%1};" : "+d"(u), "+d"(v) : "d"(g[3]));
  asm volatile("redux.sync.add.s32 %0,%0,0xffffffff;" : "+r"(a));
)";
  if (target.has_fp8_mma)
    text += R"(
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%4,%5},{%0,%1,%2,%3};" : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a), "r"(b), "r"(c), "r"(d));
)";
  return text + "  p[6] = a ^ b ^ c ^ d ^ e; f[4] = x + y + z + w; g[2] = u + v;\n}\n";
}

class SassOn : public EveryTargetTest {};
INSTANTIATE_TEST_SUITE_P(Targets, SassOn, every_target(), target_name);

TEST_P(SassOn, FindsTheLoops) {
  Source kernel = source(kLoops);
  std::string cubin = compile(kernel, *GetParam()).value().cubin;
  auto code = sass::decode(cubin, kernel).value();
  std::vector<sass::Loop> loops = sass::find_loops(code);
  ASSERT_EQ(loops.size(), 3u);
  const sass::Loop &first = loops[0], &outer = loops[1], &inner = loops[2];
  EXPECT_EQ(first.parent, -1);
  EXPECT_TRUE(first.innermost);
  EXPECT_EQ(outer.parent, -1);
  EXPECT_FALSE(outer.innermost);
  EXPECT_EQ(inner.parent, 1);
  EXPECT_TRUE(inner.innermost);
  // One load an iteration, one store that an iteration may skip.
  EXPECT_EQ(first.mix[Class::kGlobal], 2);
  EXPECT_EQ(first.mix.global_read, 32 * 4);
  EXPECT_EQ(first.mix.global_written, 32 * 4);
  EXPECT_EQ(first.mix[Class::kShared], 0);
  EXPECT_EQ(first.mix[Class::kBarrier], 1);
  EXPECT_GE(first.mix[Class::kFloat], 2);
  // The outer loop's counts include the inner one's.
  EXPECT_EQ(outer.mix.by_name.at("BAR"), 2);
  EXPECT_EQ(inner.mix[Class::kBarrier], 0);
  EXPECT_EQ(outer.mix.shared_written, 32 * 4);
  EXPECT_EQ(inner.mix.shared_read, 2 * 32 * 4);
  EXPECT_GT(outer.mix.total, inner.mix.total);
  for (const sass::Loop& loop : loops) EXPECT_LE(loop.header, loop.latch);
}

TEST_P(SassOn, StraightCodeHasNoLoop) {
  Source kernel = source("extern \"C\" __global__ void k(float* p) { p[threadIdx.x] *= 2.0f; }");
  auto code = sass::decode(compile(kernel, *GetParam()).value().cubin, kernel).value();
  EXPECT_TRUE(sass::find_loops(code).empty());
  EXPECT_EQ(std::count_if(code.begin(), code.end(), [](auto& i) { return i.name() == "STG"; }), 1);
}

TEST_P(SassOn, EveryInstructionOfThePreludeHasAName) {
  Source kernel = source(many_instructions(*GetParam()));
  auto code = sass::decode(compile(kernel, *GetParam()).value().cubin, kernel).value();
  std::set<std::string> unknown;
  for (const sass::Instruction& i : code)
    if (!i.mnemonic) unknown.insert(i.name());
  EXPECT_EQ(unknown, std::set<std::string>());
}

// ---- beside nvdisasm ----

struct Line {
  std::string name;    // "LDGSTS.E.64"
  std::string target;  // label of a branch
};

// Instructions by offset, and offsets of labels, of one function in nvdisasm's text.
struct Listing {
  std::map<int64_t, Line> lines;
  std::map<std::string, int64_t> labels;
};

Listing parse_listing(const std::string& text) {
  static const std::regex instruction(
      R"(^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_]+)(\.[A-Z0-9_.]+)?(.*)$)");
  static const std::regex label(R"(^(\.L_x_\d+):)"), branch(R"(`\((\.L_x_\d+)\))");
  Listing out;
  std::vector<std::string> pending;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, label)) pending.push_back(match[1]);
    if (!std::regex_match(line, match, instruction)) continue;
    int64_t offset = std::stoll(match[1], nullptr, 16);
    for (const std::string& name : pending) out.labels[name] = offset;
    pending.clear();
    Line& entry = out.lines[offset];
    entry.name = match[2].str() + match[3].str();
    std::string rest = match[4];
    if (std::regex_search(rest, match, branch)) entry.target = match[1];
  }
  return out;
}

int width_in(const std::string& name) {
  for (auto [suffix, bytes] :
       {std::pair(".128", 16), {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}})
    if (name.find(suffix) != name.npos) return bytes;
  return 4;
}

TEST_P(SassOn, AgreesWithNvdisasm) {
  Result<std::string> tool = find_disassembler();
  if (!tool.ok() || tool->ends_with("cuobjdump")) GTEST_SKIP() << "nvdisasm is not installed";
  int branches = 0, moves = 0;
  for (const std::string& text : {std::string(kLoops), many_instructions(*GetParam())}) {
    Source kernel = source(text);
    std::string cubin = compile(kernel, *GetParam()).value().cubin;
    Result<std::string> listed = disassemble(cubin);
    if (!listed.ok()) GTEST_SKIP() << listed.error().message;  // an older nvdisasm
    Listing listing = parse_listing(*listed);
    auto code = sass::decode(cubin, kernel).value();
    ASSERT_EQ(listing.lines.size(), code.size());
    for (const sass::Instruction& i : code) {
      const Line& line = listing.lines.at(i.offset);
      SCOPED_TRACE(line.name + " at " + std::to_string(i.offset));
      std::string base = line.name.substr(0, line.name.find('.'));
      EXPECT_EQ(i.name().substr(0, i.name().find('_')), base);
      if (base == "BRA") {
        ++branches;
        EXPECT_EQ(i.target, listing.labels.at(line.target));
      }
      if (base == "LDSM") {
        int count = line.name.ends_with(".4") ? 4 : line.name.ends_with(".2") ? 2 : 1;
        EXPECT_EQ(i.bytes, 4 * count);
      } else if (i.bytes != 0) {
        ++moves;
        EXPECT_EQ(i.bytes, width_in(line.name));
      }
    }
  }
  EXPECT_GT(branches, 5);
  EXPECT_GT(moves, 20);
}

TEST(Disassembler, SaysWhatWasSearched) {
  const char* before = std::getenv("TILEWRIGHT_NVDISASM");
  std::string kept = before ? before : "";
  setenv("TILEWRIGHT_NVDISASM", "/nonexistent/nvdisasm", 1);
  Result<std::string> none = find_disassembler();
  if (before)
    setenv("TILEWRIGHT_NVDISASM", kept.c_str(), 1);
  else
    unsetenv("TILEWRIGHT_NVDISASM");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, DiagKind::kNoDisassembler);
  EXPECT_NE(none.error().text().find("/nonexistent/nvdisasm"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::cuda
