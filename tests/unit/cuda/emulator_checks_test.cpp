// What the emulator must catch. Each test runs a right kernel, then the same with one mistake.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/cuda/emulator/host_library.h"
#include "tests/unit/cuda/emulation.h"

namespace fs = std::filesystem;
namespace tilewright::cuda {
namespace {

// Expects an error of a kind whose text holds every one of `parts`.
void expect_fault(const Status& status, DiagKind kind, std::initializer_list<const char*> parts) {
  ASSERT_FALSE(status.ok()) << "not caught";
  EXPECT_EQ(diag_name(status.error().kind), diag_name(kind)) << text_of(status);
  for (const char* part : parts)
    EXPECT_NE(text_of(status).find(part), std::string::npos) << part << "\n" << text_of(status);
}

std::string without(std::string text, const std::string& piece) {
  size_t at = text.find(piece);
  EXPECT_NE(at, text.npos) << piece;
  return text.replace(at, piece.size(), "");
}

// A reversal through shared memory, twice, so that all three orders of a race can be had.
const std::string kReverse = R"(
    u32 t = tw_thread_id(), w;
    tw_shared_store_b32(4 * t, t);
    tw_barrier(/*1*/);
    tw_shared_load_b32(w, 4 * (63 - t));
    tw_barrier(/*2*/);
    tw_shared_store_b32(4 * t, w + 1);
    tw_barrier(/*3*/);
    tw_shared_load_b32(w, 4 * t);
    tw_global_store<4, TW_PLAIN>(p + 4 * t, &w);)";

TEST(EmulatorChecks, MissingBarriersAreRaces) {
  std::vector<uint32_t> out(64);
  Emulation e{.threads = 64, .shared_bytes = 256};
  ASSERT_EQ(text_of(e.run("u64 p", kReverse, out.data())), "");
  EXPECT_EQ(out[0], 64u);
  expect_fault(e.run("u64 p", without(kReverse, "tw_barrier(/*1*/);"), out.data()),
               DiagKind::kUninitializedRead, {"thread 0 (warp 0, lane 0)"});
  e.options.check_uninitialized = false;
  expect_fault(e.run("u64 p", without(kReverse, "tw_barrier(/*1*/);"), out.data()),
               DiagKind::kDataRace, {"was read by thread", "since the last barrier"});
  expect_fault(e.run("u64 p", without(kReverse, "tw_barrier(/*2*/);"), out.data()),
               DiagKind::kDataRace, {"k.cu:6", "since the last barrier"});
  EXPECT_EQ(text_of(e.run("u64 p", without(kReverse, "tw_barrier(/*3*/);"), out.data())), "")
      << "each thread reads its own: the third barrier is not needed";
  e.options.check_races = false;
  EXPECT_EQ(text_of(e.run("u64 p", without(kReverse, "tw_barrier(/*2*/);"), out.data())), "");
}

TEST(EmulatorChecks, RacesOfEveryOrder) {
  Emulation e{.threads = 64, .shared_bytes = 256};
  expect_fault(e.run("", "tw_shared_store_b8(7, tw_thread_id());"), DiagKind::kDataRace,
               {"byte 7 was also written by thread 0", "thread 1 (warp 0, lane 1)"});
  expect_fault(e.run("", R"(
    u32 w;
    if (tw_thread_id() == 0) tw_shared_store_b32(8, 1);
    tw_barrier();
    if (tw_thread_id() == 2) tw_shared_store_b16(10, 5);
    if (tw_thread_id() == 40) tw_shared_load_b32(w, 8);)"),
               DiagKind::kDataRace, {"byte 10 was", "by thread 2", "thread 40"});
  expect_fault(e.run("", R"(
    u32 w;
    if (tw_thread_id() == 0) tw_shared_store_b32(8, 1);
    tw_barrier();
    if (tw_thread_id() < 3) tw_shared_load_b32(w, 8);
    if (tw_thread_id() == 2) tw_shared_store_b8(9, 5);)"),
               DiagKind::kDataRace, {"byte 9 was read by several threads"});
  // Neighbouring bytes of different threads are no race, nor is a thread with itself.
  EXPECT_EQ(text_of(e.run("", R"(
    u32 w;
    tw_shared_store_b8(tw_thread_id(), 1);
    tw_shared_load_b8(w, tw_thread_id());
    tw_shared_store_b8(tw_thread_id(), 2);)")),
            "");
}

// A shuffle orders lanes, but not what they did to memory.
TEST(EmulatorChecks, ShufflesDoNotOrderMemory) {
  Emulation e{.threads = 32, .shared_bytes = 128};
  expect_fault(e.run("", R"(
    u32 t = tw_thread_id(), w;
    tw_shared_store_b32(4 * t, t);
    tw_shfl_b32(t, 0);
    tw_shared_load_b32(w, 4 * (31 - t));)"),
               DiagKind::kDataRace, {"tw_shared_load_b32", "was written by thread"});
}

TEST(EmulatorChecks, MatrixLoadsAreReadsOfTheirLanes) {
  Emulation e{.threads = 32, .shared_bytes = 512};
  const std::string good = R"(
    u32 t = tw_thread_id(), d[4], w[4] = {t, t, t, t};
    tw_shared_store_b128(16 * t, w);
    tw_barrier();
    tw_ldmatrix<4>(d, 16 * t);)";
  EXPECT_EQ(text_of(e.run("", good)), "");
  expect_fault(e.run("", without(good, "tw_barrier();")), DiagKind::kDataRace, {"tw_ldmatrix"});
  expect_fault(e.run("", good + "tw_ldmatrix<1>(d, 16 * t + 8);"), DiagKind::kMisalignedAccess,
               {"row 0 of matrix 0 at shared offset 8 is not aligned to 16 bytes"});
  expect_fault(e.run("", good + "tw_ldmatrix<2>(d, t == 11 ? 512 : 0);"),
               DiagKind::kSharedOutOfBounds, {"outside of the block's 512 bytes"});
}

TEST(EmulatorChecks, SharedBoundsAndAlignment) {
  Emulation e{.threads = 32, .shared_bytes = 100};
  EXPECT_EQ(text_of(e.run("", "if (tw_thread_id() == 0) tw_shared_store_b32(96, 1);")), "");
  expect_fault(
      e.run("", "if (tw_thread_id() == 9) tw_shared_store_b32(100, 1);"),
      DiagKind::kSharedOutOfBounds,
      {"k.cu:2: error: tw_shared_store_b32 by thread 9 (warp 0, lane 9) of block (0, 0, 0)",
       "write of 4 bytes at shared offset 100 is outside of the block's 100 bytes",
       "2 | if (tw_thread_id() == 9)"});
  expect_fault(e.run("", "u32 w[4] = {}; if (tw_thread_id() == 0) tw_shared_store_b128(96, w);"),
               DiagKind::kSharedOutOfBounds, {"write of 16 bytes"});
  expect_fault(e.run("", "u32 w; tw_shared_load_b32(w, (u32)-4);"), DiagKind::kSharedOutOfBounds,
               {"read of 4 bytes at shared offset 4294967292"});
  expect_fault(e.run("", "if (tw_thread_id() == 0) tw_shared_store_b64(4, {1, 2});"),
               DiagKind::kMisalignedAccess, {"write of 8 bytes at shared offset 4"});
}

TEST(EmulatorChecks, UnwrittenSharedMemory) {
  Emulation e{.threads = 32, .shared_bytes = 64, .grid = {2, 1, 1}};
  const std::string body = R"(
    u32 w;
    if (tw_thread_id() == 0 && (WRITER)) tw_shared_store_b16(8, 1);
    tw_barrier();
    tw_shared_load_b16(w, 8);)";
  auto with = [&](const char* writer) {
    std::string text = body;
    return e.run("", text.replace(text.find("WRITER"), 6, writer));
  };
  EXPECT_EQ(text_of(with("true")), "");
  // What an earlier block left behind is not there for the next.
  expect_fault(with("tw_block_id(0) == 0"), DiagKind::kUninitializedRead,
               {"of block (1, 0, 0)", "nothing has written byte 8"});
}

TEST(EmulatorChecks, DivergenceIsAnErrorAndNoHang) {
  Emulation e{.threads = 64, .shared_bytes = 64};
  expect_fault(e.run("", "if (tw_thread_id() != 5) tw_barrier();"), DiagKind::kDivergence,
               {"tw_barrier", "waits for thread 5, which has ended"});
  expect_fault(e.run("",
                     "if (tw_thread_id() < 32) tw_barrier(); else tw_shfl_b32(1, 0);"
                     "if (tw_thread_id() < 32) tw_shfl_b32(1, 0);"),
               DiagKind::kDivergence, {"which has ended"});
  expect_fault(e.run("", "if (tw_thread_id() % 32 < 7) tw_shfl_b32(1, 0); else tw_barrier();"),
               DiagKind::kDivergence, {"waits for thread 7, which waits at tw_barrier (k.cu:2)"});
  expect_fault(e.run("", "if (tw_thread_id() % 2) tw_shfl_b32(1, 0); else tw_shfl_xor_b32(1, 1);"),
               DiagKind::kDivergence, {"of the same warp waits at tw_shfl"});
  expect_fault(e.run("", R"(
    u32 a[4] = {}, b[2] = {};
    f32 d[4] = {};
    if (tw_thread_id() != 33) tw_mma_m16n8k16_f16(d, a, b);
    else tw_mma_m16n8k16_bf16(d, a, b);)"),
               DiagKind::kDivergence, {"tw_mma_m16n8k16_bf16"});
  expect_fault(e.run("", "if (tw_thread_id() == 0) return; tw_shfl_b32(1, 0);"),
               DiagKind::kDivergence, {"waits for thread 0, which has ended"});
}

TEST(EmulatorChecks, GlobalAccesses) {
  alignas(16) std::array<uint32_t, 40> data{};
  Emulation e{.threads = 32};
  uint64_t begin = Emulation::slot(data.data()), end = begin + 32 * 4;
  e.options.may_access = [&](uint64_t address, size_t bytes, bool is_write) {
    return address >= begin && address + bytes <= end && !(is_write && address == begin + 8);
  };
  const std::string store = "u32 t = tw_thread_id(); tw_global_store<4, TW_PLAIN>(p + 4 * ";
  EXPECT_EQ(text_of(e.run("u64 p", store + "(t == 2 ? 3 : t), &t);", data.data())), "");
  expect_fault(e.run("u64 p", store + "t, &t);", data.data()), DiagKind::kOutOfBounds,
               {"by thread 2", "write of 4 bytes at global address 0x"});
  expect_fault(e.run("u64 p", "u32 w; tw_global_load<4, TW_CA>(&w, p + 4 * (tw_thread_id() + 1));",
                     data.data()),
               DiagKind::kOutOfBounds, {"by thread 31", "is outside of every argument"});
  expect_fault(e.run("u64 p", "tw_atom_add<TW_GPU>(p + 128, (u32)1);", data.data()),
               DiagKind::kOutOfBounds, {"tw_atom_add"});
  expect_fault(e.run("u64 p", "u32 w[4]; tw_global_load<16, TW_PLAIN>(w, p + 8);", data.data()),
               DiagKind::kMisalignedAccess, {"read of 16 bytes"});
  e.options.may_access = nullptr;
  expect_fault(e.run("u64 p", "u32 w; tw_global_load<4, TW_PLAIN>(&w, p);", uint64_t{64}),
               DiagKind::kOutOfBounds, {"is a null pointer's"});
}

TEST(EmulatorChecks, TrapsAndBadOperands) {
  Emulation e{.threads = 32, .grid = {3, 2, 1}};
  expect_fault(e.run("", "\nif (tw_block_id(1) == 1 && tw_thread_id() == 4) tw_trap();"),
               DiagKind::kAssertFailed,
               {"k.cu:3: error: tw_trap by thread 4 (warp 0, lane 4) of block (0, 1, 0)"});
  expect_fault(e.run("", "tw_shfl_b32(1, 32 + tw_thread_id());"), DiagKind::kBadIntrinsic,
               {"lane 32 does not exist"});
  const std::string tf32 = R"(
    f32 x = 1.0f + 0x1p-20f * (f32)tw_thread_id(), d[4] = {};
    u32 a[4] = {ROUND(x), 0, 0, 0}, b[2] = {0, 0};
    tw_mma_m16n8k8_tf32(d, a, b);)";
  EXPECT_EQ(text_of(e.run("", "#define ROUND tw_tf32\n" + tf32)), "");
  expect_fault(e.run("", "#define ROUND tw_bitcast<u32>\n" + tf32), DiagKind::kBadIntrinsic,
               {"not rounded to TF32"});
}

// Loops with and without intrinsics, of every form.
TEST(EmulatorChecks, KernelsThatNeverEndRunOutOfFuel) {
  uint32_t flag = 0;
  Emulation e{.threads = 32};
  e.options.fuel = 100000;
  for (const char* loop :
       {"for (;;) {}", "while (true) n = n * 3 + 1;", "while (n < 5 || n > 2) { n = 3; }",
        "for (u32 i = 0; i < 10; ) n += i;", "do { n = 1; } while (n);",
        "while (tw_atom_cas<TW_GPU>(p, (u32)1, (u32)0) == 0) {}"}) {
    SCOPED_TRACE(loop);
    expect_fault(e.run("u64 p", "volatile u32 n = 3;\n" + std::string(loop), &flag),
                 DiagKind::kOutOfFuel, {"k.cu:3", "made more than 100000 steps"});
  }
  // Words and comments that only look like loops; a loop that ends.
  EXPECT_EQ(text_of(e.run("u64 p", R"(
    // while (true) for ever
    u32 before = 0, awhile = 1, n = 0;
    for (u32 i = 0; i < 90; ++i) n += before + awhile;
    while (n > 0) --n;)",
                          &flag)),
            "");
}

// Of many blocks that fail on many threads, the run ends and names one.
TEST(EmulatorChecks, FaultsOnManyThreads) {
  Emulation e{.threads = 32, .grid = {200, 1, 1}};
  e.options.threads = 4;
  expect_fault(e.run("", "if (tw_block_id(0) % 3 == 2) tw_trap();"), DiagKind::kAssertFailed,
               {"tw_trap"});
}

TEST(EmulatorChecks, ExceptionsOfTheCallerDoNotCross) {
  std::vector<uint32_t> data(32);
  Emulation e{.threads = 32};
  e.options.may_access = [](uint64_t, size_t, bool) -> bool {
    throw std::runtime_error("table of arguments is gone");
  };
  expect_fault(e.run("u64 p", "u32 w; tw_global_load<4, TW_PLAIN>(&w, p);", data.data()),
               DiagKind::kInternal, {"table of arguments is gone"});
}

// Faults inside the prelude's own functions are put where the kernel called them.
TEST(EmulatorChecks, WrappersNameTheirCaller) {
  Emulation e{.threads = 32, .shared_bytes = 64};
  for (const char* call :
       {"tw_shared_load<4>(v, 64);", "tw_shared_store<4>(64, v);", "tw_load<4>(v, 16);",
        "tw_store<4>(16, v);", "tw_load_if<1>(v, 4, true);", "tw_store_if<1>(4, v, true);",
        "tw_atomic_add<TW_GPU>(4, 1.0f);", "tw_atomic_max<TW_GPU>(4, 1.0f);",
        "tw_atomic_xor<TW_GPU>(4, (u32)1);", "tw_atomic_add<TW_GPU>(4, f16{0});",
        "tw_atomic_cas<TW_GPU>(4, 1.0f, 2.0f);", "tw_shfl(v[0], 99);", "tw_shfl_xor(2.0, 99);"}) {
    SCOPED_TRACE(call);
    Status status = e.run("", std::string("f32 v[4] = {};\n") + call);
    ASSERT_FALSE(status.ok());
    EXPECT_TRUE(text_of(status).starts_with("k.cu:3: error: tw_")) << text_of(status);
  }
}

TEST(EmulatorChecks, LineDirectivesNameTheKernelsOwnSource) {
  Emulation e{.threads = 32};
  expect_fault(e.run("", "\n#line 17 \"softmax.py\"\ntw_trap();"), DiagKind::kAssertFailed,
               {"softmax.py:17: error: tw_trap"});
}

// ---- building
// ------------------------------------------------------------------------------------

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tilewright-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  fs::path path;
};

TEST(EmulatorBuild, TargetsOfferOnlyWhatTheyHave) {
  Emulation e{.threads = 32, .sm = 75};
  const std::string body = "u32 a[4] = {}, b[2] = {}; f32 d[4] = {}; tw_mma_m16n8k16_f16(d, a, b);";
  expect_fault(e.run("", body), DiagKind::kHostCompile, {"tw_mma_m16n8k16_f16", "k.cu:2"});
  e.sm = 80;
  EXPECT_EQ(text_of(e.run("", body)), "");
}

TEST(EmulatorBuild, NoCompiler) {
  Emulation e{.threads = 32};
  {
    Environment cxx("TILEWRIGHT_CXX", "/nonexistent/c++");
    expect_fault(e.run("", ""), DiagKind::kNoHostCompiler,
                 {"TILEWRIGHT_CXX names /nonexistent/c++"});
  }
  Environment cxx("TILEWRIGHT_CXX", "");
  Environment path("PATH", "/nonexistent");
  expect_fault(e.run("", ""), DiagKind::kNoHostCompiler,
               {"no c++, g++ or clang++ on the PATH", "hint:"});
}

TEST(EmulatorBuild, CacheIsReusedAndSurvivesDamage) {
  TemporaryFolder folder;
  Environment cache("TILEWRIGHT_CACHE", folder.path.string());
  Emulation e{.threads = 32};
  auto entries = [&] {
    std::vector<fs::path> found;
    for (auto& entry : fs::directory_iterator(folder.path / "emulated"))
      found.push_back(entry.path());
    return found;
  };
  ASSERT_EQ(text_of(e.run("", "")), "");
  ASSERT_EQ(entries().size(), 1u) << "build folders are gone";
  const fs::path entry = entries()[0];
  const auto before = fs::last_write_time(entry);
  ASSERT_EQ(text_of(e.run("", "")), "");
  EXPECT_EQ(fs::last_write_time(entry), before) << "not built again";
  const auto size = fs::file_size(entry);
  for (uintmax_t length : {uintmax_t{0}, size / 2, size - 1}) {
    fs::resize_file(entry, length);
    EXPECT_EQ(text_of(e.run("", "")), "") << "cut to " << length;
    EXPECT_EQ(fs::file_size(entry), size) << "built again";
  }
  std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 3));
  file.write("damage", 6);
  file.close();
  EXPECT_EQ(text_of(e.run("", "")), "");
}

TEST(EmulatorBuild, CacheCanBeOffOrUnwritable) {
  TemporaryFolder temporary;
  Environment tmp("TMPDIR", temporary.path.string());
  Emulation e{.threads = 32};
  {
    Environment cache("TILEWRIGHT_CACHE", "off");
    EXPECT_EQ(text_of(e.run("", "")), "");
    for (auto& entry : fs::recursive_directory_iterator(temporary.path))
      EXPECT_TRUE(entry.is_directory()) << entry.path() << " was left behind";
  }
  Environment cache("TILEWRIGHT_CACHE", "/proc/nonexistent");
  EXPECT_EQ(text_of(e.run("", "")), "") << "falls back to the temporary folder";
  Environment nowhere("TMPDIR", "/proc/nonexistent");
  expect_fault(e.run("", "u32 new_text = 0;"), DiagKind::kIo, {"TILEWRIGHT_CACHE or TMPDIR"});
}

TEST(EmulatorBuild, BlocksAreWholeWarps) {
  for (int threads : {0, -32, 33, 2048}) {
    Emulation e{.threads = threads};
    expect_fault(e.run("", ""), DiagKind::kBadLaunch, {"is not 1 to 32 warps of 32"});
  }
}

// Same names, several targets, more than a library holds; a bad one is null and told of by
// emulate().
TEST(EmulatorBuild, ManyKernelsAtOnce) {
  std::vector<Source> sources;
  for (uint32_t i = 0; i < 70; ++i) {
    Source source;
    source.entry = "k";
    source.text = "TW_KERNEL(32) void k(u64 p) { u32 w = " + std::to_string(100 + i) +
                  "; tw_global_store<4, TW_PLAIN>(p, &w); }\n";
    source.threads = i == 69 ? 31 : 32;
    source.sm = i % 2 ? 80 : 75;
    source.params.resize(1);
    sources.push_back(source);
  }
  auto kernels = emulate_all(sources);
  ASSERT_EQ(kernels.size(), sources.size());
  EXPECT_EQ(kernels[69], nullptr);
  for (uint32_t i = 0; i < 69; ++i) {
    ASSERT_NE(kernels[i], nullptr) << i;
    uint32_t out = 0;
    uint64_t slot = Emulation::slot(&out);
    Launch launch;
    launch.arguments = {&slot, 1};
    ASSERT_EQ(text_of(kernels[i]->run(launch)), "");
    EXPECT_EQ(out, 100 + i);
  }
  sources[0].text = "no kernel";
  sources.resize(1);
  EXPECT_EQ(emulate_all(sources)[0], nullptr);
  expect_fault(emulate(sources[0]).ok() ? Status() : Status(emulate(sources[0]).error()),
               DiagKind::kHostCompile, {"refused the text of k"});
}

TEST(EmulatorBuild, ArgumentsAreCounted) {
  Source source;
  source.entry = "k";
  source.text = "TW_KERNEL(32) void k(u64 p) {}\n";
  source.threads = 32;
  source.params.resize(1);
  auto kernel = emulate(source).value();
  expect_fault(kernel->run({}), DiagKind::kBadLaunch, {"k takes 1 arguments, 0 were given"});
}

}  // namespace
}  // namespace tilewright::cuda
