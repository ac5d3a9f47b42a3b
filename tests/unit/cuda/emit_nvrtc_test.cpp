// What the emitter writes for the golden kernels compiles for every target without local memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/cuda/cuda.h"
#include "codegen/passes/passes.h"

namespace tilewright::cuda {
namespace {

std::vector<std::filesystem::path> golden_kernels() {
  std::vector<std::filesystem::path> paths;
  for (auto& entry :
       std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/golden/cuda"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

ir::Module read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.erase(0, text.find('\n') + 1);
  text.erase(text.find("# --- expected"));
  ir::Module module = ir::parse(path.filename().string(), text).value();
  passes::run_pipeline(module).value();
  return module;
}

TEST(EmitNvrtc, GoldenKernelsCompileForEveryTarget) {
  if (Result<NvrtcInfo> info = nvrtc_info(); !info.ok()) GTEST_SKIP() << info.error().message;
  int compiled = 0;
  for (const auto& path : golden_kernels())
    for (const Target& target : all_targets()) {
      SCOPED_TRACE(path.filename().string() + " for " + std::string(target.name));
      Result<Source> source = emit(read(path), target);
      if (!source.ok() && source.error().kind == DiagKind::kOutOfResources) continue;
      ASSERT_TRUE(source.ok()) << source.error().text();
      Result<Binary> binary = compile(*source, target);
      ASSERT_TRUE(binary.ok()) << binary.error().text();
      Resources resources = read_resources(binary->cubin, *source).value();
      EXPECT_EQ(resources.stack_bytes, 0);
      EXPECT_EQ(resources.spill_instructions, 0);
      ++compiled;
    }
  EXPECT_GE(compiled, 40);
}

TEST(EmitNvrtc, DotsUseTheTensorCores) {
  if (Result<NvrtcInfo> info = nvrtc_info(); !info.ok()) GTEST_SKIP() << info.error().message;
  ir::Module module = read(TILEWRIGHT_SOURCE_DIR "/tests/golden/cuda/dot.ir");
  const Target& target = *find_target("sm_80");
  Source source = emit(module, target).value();
  auto mix = instruction_mix(compile(source, target).value().cubin, source).value();
  EXPECT_EQ(mix["HMMA"], 16);  // 64x64x32 by 4 warps of m16n8k16
  EXPECT_GT(mix["LDSM"], 0);
}

}  // namespace
}  // namespace tilewright::cuda
