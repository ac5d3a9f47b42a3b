#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvrtc_loader.h"

namespace fs = std::filesystem;
namespace tilewright::cuda {
namespace {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tilewright-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  fs::path path;
};

Source source(std::string text, std::string entry = "k") {
  Source out;
  out.text = std::move(text);
  out.entry = std::move(entry);
  return out;
}

#define SKIP_WITHOUT_NVRTC() \
  if (!nvrtc_info().ok()) GTEST_SKIP() << nvrtc_info().error().message

TEST(Nvrtc, EverySearchedPlaceIsNamed) {
  TemporaryFolder empty;
  NvrtcSearch search;
  search.use_loader_path = false;
  search.folders = {empty.path.string(), "/nonexistent/cuda/lib64"};
  Result<NvrtcApi> result = load_nvrtc(search);
  ASSERT_FALSE(result.ok());
  std::string text = result.error().text();
  EXPECT_NE(text.find("[no-nvrtc]"), std::string::npos) << text;
  EXPECT_NE(text.find(empty.path.string() + ": has no libnvrtc.so"), std::string::npos) << text;
  EXPECT_NE(text.find("/nonexistent/cuda/lib64: is no folder"), std::string::npos) << text;
  EXPECT_NE(text.find("hint:"), std::string::npos) << text;
}

TEST(Nvrtc, OverrideIsTheOnlyPlace) {
  TemporaryFolder folder;
  std::ofstream(folder.path / "libnvrtc.so.13") << "no library";
  std::ofstream(folder.path / "libnvrtc.alt.so.13") << "never opened";
  NvrtcSearch search = default_nvrtc_search();
  for (fs::path path : {folder.path, folder.path / "libnvrtc.so.13"}) {
    search.override_path = path.string();
    Result<NvrtcApi> result = load_nvrtc(search);
    ASSERT_FALSE(result.ok());
    std::string text = result.error().text();
    EXPECT_NE(text.find("TILEWRIGHT_NVRTC allows only"), std::string::npos) << text;
    EXPECT_NE(text.find("libnvrtc.so.13"), std::string::npos) << text;
    EXPECT_EQ(text.find(".alt"), std::string::npos) << text;
    EXPECT_EQ(text.find("/usr/local/cuda"), std::string::npos) << text;
  }
}

// A library that is not NVRTC is refused for what it lacks.
TEST(Nvrtc, ForeignLibraryIsRefused) {
  NvrtcSearch search;
  search.override_path = "/lib/x86_64-linux-gnu/libm.so.6";
  if (!fs::exists(search.override_path)) GTEST_SKIP() << "no library at that path";
  Result<NvrtcApi> result = load_nvrtc(search);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("has no nvrtcVersion"), std::string::npos)
      << result.error().text();
}

TEST(Nvrtc, SearchCoversToolkitsAndWheels) {
  TemporaryFolder home;
  fs::path site = home.path / "lib/python3.11/site-packages";
  fs::create_directories(site / "nvidia/cu13/lib");
  fs::create_directories(site / "nvidia/cuda_nvrtc/lib");
  setenv("VIRTUAL_ENV", home.path.c_str(), 1);
  setenv("CUDA_PATH", "/opt/some-cuda", 1);
  NvrtcSearch search = default_nvrtc_search();
  unsetenv("VIRTUAL_ENV");
  unsetenv("CUDA_PATH");
  auto has = [&](const std::string& folder) {
    return std::find(search.folders.begin(), search.folders.end(), folder) != search.folders.end();
  };
  EXPECT_TRUE(has("/opt/some-cuda/lib64"));
  EXPECT_TRUE(has("/usr/local/cuda/lib64"));
  EXPECT_TRUE(has((site / "nvidia/cu13/lib").string()));
  EXPECT_TRUE(has((site / "nvidia/cuda_nvrtc/lib").string()));
}

TEST(Nvrtc, LoadsFromAFolderWithItsBuiltins) {
  SKIP_WITHOUT_NVRTC();
  NvrtcSearch search;
  search.override_path = fs::path(nvrtc_info()->library).parent_path().string();
  Result<NvrtcApi> api = load_nvrtc(search);
  ASSERT_TRUE(api.ok()) << api.error().text();
  EXPECT_EQ(api->info.major, nvrtc_info()->major);
  std::ifstream maps("/proc/self/maps");
  std::string text{std::istreambuf_iterator<char>(maps), {}};
  EXPECT_NE(text.find("libnvrtc-builtins.so"), std::string::npos);
  EXPECT_EQ(text.find(".alt.so"), std::string::npos);
}

TEST(Nvrtc, CubinAndPtxForTheTarget) {
  SKIP_WITHOUT_NVRTC();
  Binary binary =
      compile(source("extern \"C\" __global__ void k(int* p) { *p = 1; }\n"), *find_target("sm_90"))
          .value();
  EXPECT_TRUE(
      binary.cubin.starts_with("\x7f"
                               "ELF"));
  EXPECT_NE(binary.ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_NE(binary.ptx.back(), '\0') << "the terminator is not part of the text";
  EXPECT_NE(binary.log.find("Used "), std::string::npos);
}

TEST(Nvrtc, NothingIsContracted) {
  SKIP_WITHOUT_NVRTC();
  Binary binary = compile(source("extern \"C\" __global__ void k(float* p) {\n"
                                 "  p[0] = p[1] * p[2] + p[3];\n}\n"),
                          *find_target("sm_80"))
                      .value();
  EXPECT_EQ(binary.ptx.find("fma.rn"), std::string::npos) << binary.ptx;
}

TEST(Nvrtc, RefusedTextIsShownWhereItIsWrong) {
  SKIP_WITHOUT_NVRTC();
  Result<Binary> result = compile(source("extern \"C\" __global__ void k(int* p) {\n"
                                         "  p[0] = 1;\n"
                                         "  p[1] = nonsense;\n"
                                         "}\n",
                                         "wrong"),
                                  *find_target("sm_80"));
  ASSERT_FALSE(result.ok());
  std::string text = result.error().text();
  EXPECT_NE(text.find("[cuda-compile]"), std::string::npos) << text;
  EXPECT_NE(text.find(">     3 |   p[1] = nonsense;"), std::string::npos) << text;
  EXPECT_NE(text.find("identifier \"nonsense\" is undefined"), std::string::npos) << text;
}

TEST(Nvrtc, LineDirectivesAreFollowedBack) {
  SKIP_WITHOUT_NVRTC();
  Result<Binary> result = compile(source("extern \"C\" __global__ void k(int* p) {\n"
                                         "#line 40 \"attention.py\"\n"
                                         "  p[0] = 1;\n"
                                         "  p[1] = nonsense;\n"
                                         "}\n"),
                                  *find_target("sm_80"));
  ASSERT_FALSE(result.ok());
  std::string text = result.error().text();
  EXPECT_NE(text.find("attention.py:41"), std::string::npos) << text;
  EXPECT_NE(text.find(">     4 |   p[1] = nonsense;"), std::string::npos) << text;
}

TEST(Nvrtc, FlagsFromTheEnvironmentAreRefused) {
  SKIP_WITHOUT_NVRTC();
  setenv("NVRTC_APPEND_FLAGS", "--use_fast_math", 1);
  Result<Binary> result =
      compile(source("extern \"C\" __global__ void k() {}\n"), *find_target("sm_80"));
  unsetenv("NVRTC_APPEND_FLAGS");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("NVRTC_APPEND_FLAGS"), std::string::npos);
}

TEST(Nvrtc, UnknownTargetsAreNamed) {
  SKIP_WITHOUT_NVRTC();
  Target target = *find_target("sm_120");
  target.sm = 999;
  target.name = target.nvrtc = "sm_999";
  Result<Binary> result = compile(source("extern \"C\" __global__ void k() {}\n"), target);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("does not compile for sm_999"), std::string::npos)
      << result.error().text();
}

TEST(Nvrtc, CompilesFromManyThreads) {
  SKIP_WITHOUT_NVRTC();
  const std::string text = "extern \"C\" __global__ void k(float* p) { p[threadIdx.x] += 1; }\n";
  const std::string expected = compile(source(text), *find_target("sm_89")).value().cubin;
  std::vector<std::string> cubins(4);
  std::vector<std::thread> threads;
  for (std::string& cubin : cubins)
    threads.emplace_back(
        [&] { cubin = compile(source(text), *find_target("sm_89")).value().cubin; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& cubin : cubins) EXPECT_EQ(cubin, expected);
}

}  // namespace
}  // namespace tilewright::cuda
