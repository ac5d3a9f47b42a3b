// cp.async under the emulator: what lands and when, and what must be caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "codegen/cuda/nvrtc_loader.h"
#include "tests/unit/cuda/emulation.h"

namespace tilewright::cuda {
namespace {

void expect_fault(const Status& status, DiagKind kind, std::initializer_list<const char*> parts) {
  ASSERT_FALSE(status.ok()) << "not caught";
  EXPECT_EQ(diag_name(status.error().kind), diag_name(kind)) << text_of(status);
  for (const char* part : parts)
    EXPECT_NE(text_of(status).find(part), std::string::npos) << part << "\n" << text_of(status);
}

std::string replace(std::string text, const std::string& piece, const std::string& with) {
  size_t at = text.find(piece);
  EXPECT_NE(at, text.npos) << piece;
  return text.replace(at, piece.size(), with);
}

// A ring of three slots of 64 words: every thread copies one word a step, two steps ahead, and adds
// up what its neighbour copied. 8 steps.
const std::string kRing = R"(
    u32 t = tw_thread_id(), sum = 0, w, read = 0, write = 2;
    tw_cp_async<4>(4 * t, in + 4 * t); tw_cp_async_commit();
    tw_cp_async<4>(256 + 4 * t, in + 256 + 4 * t); tw_cp_async_commit();
    for (u32 i = 0; i < 8; ++i) {
      tw_cp_async_wait<1>();
      tw_barrier();
      tw_shared_load_b32(w, 256 * read + 4 * (63 - t));
      sum += w;
      if (i + 2 < 8) tw_cp_async<4>(256 * write + 4 * t, in + 256 * (i + 2) + 4 * t);
      tw_cp_async_commit();
      read = read == 2 ? 0 : read + 1;
      write = write == 2 ? 0 : write + 1;
    }
    tw_cp_async_wait<0>();
    tw_global_store<4, TW_PLAIN>(out + 4 * t, &sum);)";

struct Ring {
  Ring() : in(512), out(64) { std::iota(in.begin(), in.end(), 7u); }
  Status run(const std::string& body) {
    Emulation e{.threads = 64, .shared_bytes = 768, .sm = 80, .grid = {2, 1, 1}};
    return e.run("u64 in, u64 out", body, in.data(), out.data());
  }
  std::vector<uint32_t> in, out;
};

TEST(AsyncCopy, ARingOfSlots) {
  Ring ring;
  ASSERT_EQ(text_of(ring.run(kRing)), "");
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 8; ++i) sum += ring.in[64 * i + 63 - t];
    EXPECT_EQ(ring.out[t], sum) << t;
  }
}

TEST(AsyncCopy, EveryMistakeInTheRingIsCaught) {
  Ring ring;
  // The wait leaves the group in flight that is read.
  expect_fault(ring.run(replace(kRing, "wait<1>", "wait<2>")), DiagKind::kUnfinishedCopy,
               {"tw_shared_load_b32", "the copy of thread 0 at k.cu:4 has not landed on byte 0"});
  expect_fault(ring.run(replace(kRing, "tw_cp_async_wait<1>();", "")), DiagKind::kUnfinishedCopy,
               {"has not landed"});
  // No barrier: thread 63 may not have come as far as its copy.
  expect_fault(ring.run(replace(kRing, "tw_barrier();", "")), DiagKind::kUninitializedRead,
               {"nothing has written byte 252"});
  // A barrier that does not separate the others' waits from the read.
  expect_fault(ring.run(replace(kRing, "tw_cp_async_wait<1>();\n      tw_barrier();",
                                "tw_barrier();\n      tw_cp_async_wait<1>();")),
               DiagKind::kUnfinishedCopy, {"has not landed"});
  // The slot that others still read is copied over.
  expect_fault(ring.run(replace(kRing, "write = 2;", "write = 0;")), DiagKind::kUnfinishedCopy,
               {"tw_shared_load_b32", "at k.cu:11 has not landed"});
  // Two groups become one: the wait counts too few.
  expect_fault(ring.run(replace(kRing, "tw_cp_async_commit();\n    for", "\n    for")),
               DiagKind::kUnfinishedCopy, {"has not landed"});
}

// Copying over what another thread reads is a race in either order.
TEST(AsyncCopy, ReadersAndCopiesAreOrderedByBarriers) {
  Emulation e{.threads = 64, .shared_bytes = 256, .sm = 80};
  std::vector<uint32_t> in(64);
  const std::string body = R"(
    u32 t = tw_thread_id(), w;
    tw_shared_store_b32(4 * t, t);
    tw_barrier();
    tw_shared_load_b32(w, 4 * (63 - t));
    BARRIER
    if (t < 32) tw_cp_async<4>(4 * t, in + 4 * t);
    tw_cp_async_commit();
    tw_cp_async_wait<0>();)";
  EXPECT_EQ(text_of(e.run("u64 in", replace(body, "BARRIER", "tw_barrier();"), in.data())), "");
  expect_fault(e.run("u64 in", replace(body, "BARRIER", ""), in.data()), DiagKind::kDataRace,
               {"tw_cp_async by thread", "was read by thread"});
}

// Landing is a write by the thread that copied, at its wait.
TEST(AsyncCopy, VisibleToOthersAfterABarrierOnly) {
  Ring ring;
  const std::string body = R"(
    u32 t = tw_thread_id(), w;
    tw_cp_async<4>(4 * t, in + 4 * t);
    tw_cp_async_commit();
    tw_cp_async_wait<0>();
    BARRIER
    tw_shared_load_b32(w, 4 * (t / 2 * 2));
    tw_global_store<4, TW_PLAIN>(out + 4 * t, &w);)";
  EXPECT_EQ(text_of(ring.run(replace(body, "BARRIER", "tw_barrier();"))), "");
  EXPECT_EQ(ring.out[5], ring.in[4]);
  expect_fault(ring.run(replace(body, "BARRIER", "")), DiagKind::kDataRace,
               {"tw_shared_load_b32", "was written by thread 0 since the last barrier"});
  std::string own = replace(replace(body, "BARRIER", ""), "t / 2 * 2", "t");
  EXPECT_EQ(text_of(ring.run(own)), "") << "its own copies a thread sees without a barrier";
}

TEST(AsyncCopy, WhatIsInFlightIsTouchedByNobody) {
  Ring ring;
  const std::string start = "u32 t = tw_thread_id(), w; tw_cp_async<4>(4 * t, in + 4 * t);\n";
  const std::string end = "tw_cp_async_commit(); tw_cp_async_wait<0>();";
  EXPECT_EQ(text_of(ring.run(start + end)), "");
  expect_fault(ring.run(start + "tw_shared_load_b8(w, 4 * t + 1);" + end),
               DiagKind::kUnfinishedCopy,
               {"k.cu:3", "by thread 0", "read of 1 bytes at shared offset 1",
                "the copy of thread 0 at k.cu:2 has not landed on byte 1 yet"});
  expect_fault(ring.run(start + "tw_barrier(); tw_shared_store_b32(252 - 4 * t, 1);" + end),
               DiagKind::kUnfinishedCopy, {"tw_shared_store_b32", "has not landed on byte"});
  expect_fault(ring.run(start + "tw_cp_async<4>(4 * t, in);" + end), DiagKind::kUnfinishedCopy,
               {"k.cu:3", "write of 4 bytes", "the copy of thread 0 at k.cu:2"});
  expect_fault(
      ring.run(start + "u32 d[1]; tw_barrier(); tw_ldmatrix<1>(d, 16 * (t % 32) % 128);" + end),
      DiagKind::kUnfinishedCopy, {"tw_ldmatrix"});
}

TEST(AsyncCopy, AThreadWaitsForAllItsCopies) {
  Ring ring;
  const std::string copy = "tw_cp_async<4>(4 * tw_thread_id(), in);";
  expect_fault(ring.run(copy), DiagKind::kUnfinishedCopy,
               {"k.cu:2", "the thread ends without having waited for its copy of 4 bytes"});
  // Copies that were never committed are no group that a wait could name.
  expect_fault(ring.run(copy + "tw_cp_async_wait<0>();"), DiagKind::kUnfinishedCopy,
               {"the thread ends"});
  expect_fault(ring.run(copy + "tw_cp_async_commit(); tw_cp_async_wait<1>();"),
               DiagKind::kUnfinishedCopy, {"the thread ends"});
  EXPECT_EQ(text_of(ring.run(copy + "tw_cp_async_commit(); tw_cp_async_wait<0>();")), "");
}

TEST(AsyncCopy, TheSourceMayNotChangeMeanwhile) {
  Ring ring;
  const std::string body = R"(
    u32 t = tw_thread_id(), w = 1000 + tw_block_id(0);
    tw_cp_async<4>(4 * t, in + 4 * t);
    tw_global_store<4, TW_PLAIN>(in + 4 * t, &w);
    tw_cp_async_commit();
    tw_cp_async_wait<0>();)";
  expect_fault(ring.run(body), DiagKind::kDataRace,
               {"tw_cp_async_wait", "changed while tw_cp_async (k.cu:4) was copying them"});
}

TEST(AsyncCopy, SizesAndMasks) {
  alignas(16) std::array<uint32_t, 64> in{}, out{};
  std::iota(in.begin(), in.end(), 1u);
  Emulation e{.threads = 32, .shared_bytes = 512, .sm = 80};
  auto begin = Emulation::slot(in.data());
  e.options.may_access = [&](uint64_t address, size_t bytes, bool is_write) {
    return is_write || (address >= begin && address + bytes <= begin + sizeof in);
  };
  for (int bytes : {4, 8, 16}) {
    SCOPED_TRACE(bytes);
    const std::string body =
        replace(R"(
      u32 t = tw_thread_id(), w;
      bool mask = (t * B) < sizeof(u32) * 64 && t % 3 != 0;
      tw_cp_async_if<B>(t * B, mask ? in + t * B : 12, mask);
      tw_cp_async_commit(); tw_cp_async_wait<0>(); tw_barrier();
      for (u32 i = t; i < 64; i += 32) {
        if (4 * i < 32 * B) {
          tw_shared_load_b32(w, 4 * i);
          tw_global_store<4, TW_PLAIN>(out + 4 * i, &w);
        }
      })",
                "u32 t", "constexpr u32 B = " + std::to_string(bytes) + "; u32 t");
    out.fill(77);
    ASSERT_EQ(text_of(e.run("u64 in, u64 out", body, in.data(), out.data())), "");
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t lane = 4 * i / static_cast<uint32_t>(bytes);
      EXPECT_EQ(out[i], lane >= 32 ? 77 : lane % 3 == 0 ? 0 : in[i]) << i;
    }
  }
}

TEST(AsyncCopy, BoundsAndAlignment) {
  alignas(16) std::array<uint32_t, 64> in{};
  Emulation e{.threads = 32, .shared_bytes = 512, .sm = 80};
  auto begin = Emulation::slot(in.data());
  e.options.may_access = [&](uint64_t address, size_t bytes, bool) {
    return address >= begin && address + bytes <= begin + sizeof in;
  };
  auto run = [&](const char* body) { return e.run("u64 in", body, in.data()); };
  expect_fault(run("tw_cp_async<8>(4, in);"), DiagKind::kMisalignedAccess,
               {"write of 8 bytes at shared offset 4 is not aligned"});
  expect_fault(run("tw_cp_async<8>(8, in + 4);"), DiagKind::kMisalignedAccess,
               {"read of 8 bytes at global address"});
  expect_fault(run("tw_cp_async<16>(512, in);"), DiagKind::kSharedOutOfBounds,
               {"write of 16 bytes at shared offset 512"});
  expect_fault(run("tw_cp_async<16>(0, in + 256);"), DiagKind::kOutOfBounds,
               {"tw_cp_async", "read of 16 bytes", "outside of every argument"});
  expect_fault(run("tw_cp_async<4>(0, 0);"), DiagKind::kOutOfBounds, {"null pointer"});
  // Masked off, the destination must still be right.
  expect_fault(run("tw_cp_async_if<16>(520, 0, false);"), DiagKind::kSharedOutOfBounds,
               {"offset 520"});
}

TEST(AsyncCopy, OnlyFromAmpereOn) {
  Emulation e{.threads = 32, .shared_bytes = 512, .sm = 75};
  expect_fault(e.run("u64 in", "tw_cp_async<4>(0, in);", uint64_t{0}), DiagKind::kHostCompile,
               {"tw_cp_async"});
}

TEST(AsyncCopy, CompilesForEveryTargetThatHasIt) {
  if (!nvrtc_info().ok()) GTEST_SKIP() << "no NVRTC";
  for (const Target& target : all_targets()) {
    SCOPED_TRACE(target.name);
    const std::vector<int>& known = nvrtc()->architectures;
    if (target.sm < 80 || std::find(known.begin(), known.end(), target.sm) == known.end()) continue;
    Source source;
    source.entry = "k";
    source.threads = 32;
    source.text = R"(TW_KERNEL(32) void k(u64 p, u64 out, i32 n) {
      u32 t = tw_thread_id(), w[4];
      tw_cp_async<4>(4 * t, p); tw_cp_async<8>(256 + 8 * t, p); tw_cp_async<16>(512 + 16 * t, p);
      tw_cp_async_if<4>(4 * t, p, t < n); tw_cp_async_if<8>(8 * t, p, t < n);
      tw_cp_async_if<16>(16 * t, p, t < n);
      tw_cp_async_commit(); tw_cp_async_wait<0>(); tw_cp_async_wait<7>();
      tw_barrier();
      tw_shared_load_b128(w, 16 * t);
      tw_global_store_if<16, TW_PLAIN>(out, w, true);
    })";
    Result<Binary> binary = compile(source, target);
    ASSERT_TRUE(binary.ok()) << binary.error().text();
    EXPECT_EQ(binary->log.find("warning"), std::string::npos) << binary->log;
    auto mix = instruction_mix(binary->cubin, source);
    ASSERT_TRUE(mix.ok());
    EXPECT_EQ((*mix)["LDGSTS"], 6) << "copies in machine code";
  }
}

}  // namespace
}  // namespace tilewright::cuda
