// The compile service: what is compiled again and what is not, whatever happens to the files.
#include "runtime/compile/compile.h"

#include <fstream>
#include <thread>

#include "tests/unit/runtime/fixture.h"

namespace fs = std::filesystem;

namespace tilewright::runtime {
namespace {

CompileRequest request_for(const std::string& text, std::string_view platform,
                           int64_t block = 256) {
  CompileRequest request;
  request.program = program_of(text);
  request.kernel = "add";
  request.platform = parse_platform(platform).value();
  for (const char* argument : {"x_ptr=*fp32:16", "y_ptr=*fp32:16", "out_ptr=*fp32:16", "n=i32"})
    request.specialization.arguments.push_back(frontend::parse_argument(argument).value());
  frontend::Argument constant;
  constant.name = "BLOCK";
  constant.is_constant = true;
  constant.constant = frontend::Constant::integer_of(block);
  request.specialization.arguments.push_back(constant);
  return request;
}

std::vector<fs::path> entries(const std::string& directory) {
  std::vector<fs::path> out;
  for (auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) out.push_back(entry.path());
  return out;
}

class CubinCache : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::nvrtc_info()) GTEST_SKIP() << "no NVRTC";
  }
  CompileCounters compile(const CompileRequest& request) {
    CompileService service({folder_.path(), 1 << 26});
    auto compiled = service.compile(request);
    EXPECT_TRUE(compiled.ok()) << compiled.error().text();
    if (compiled.ok()) last_ = *compiled;
    return service.counters();
  }

  TemporaryFolder folder_;
  CompiledPtr last_;
};

TEST_F(CubinCache, ColdThenWarm) {
  CompileRequest request = request_for(kAdd, "sm_80");
  EXPECT_EQ(compile(request).compiled, 1u);
  CompiledPtr cold = last_;
  EXPECT_FALSE(cold->from_disk);
  CompileCounters warm = compile(request);
  EXPECT_EQ(warm.compiled, 0u);
  EXPECT_EQ(warm.disk_hits, 1u);
  EXPECT_TRUE(last_->from_disk);
  EXPECT_EQ(last_->function->cubin(), cold->function->cubin());
  EXPECT_EQ(last_->source.entry, cold->source.entry);
  EXPECT_EQ(last_->source.threads, cold->source.threads);
  EXPECT_EQ(last_->source.shared_bytes, cold->source.shared_bytes);
  EXPECT_EQ(last_->params, cold->params);
  EXPECT_EQ(last_->resources.registers, cold->resources.registers);
  EXPECT_GT(last_->resources.registers, 0);
  EXPECT_EQ(last_->log, cold->log);
}

TEST_F(CubinCache, WhatDecidesTheCodeIsInTheKey) {
  compile(request_for(kAdd, "sm_80"));
  EXPECT_EQ(compile(request_for(kAdd, "sm_90")).compiled, 1u) << "target";
  EXPECT_EQ(compile(request_for(kAdd, "sm_80", 512)).compiled, 1u) << "constant";
  CompileRequest warps = request_for(kAdd, "sm_80");
  warps.specialization.num_warps = 8;
  EXPECT_EQ(compile(warps).compiled, 1u) << "warps";
  CompileRequest bounded = request_for(kAdd, "sm_80");
  bounded.specialization.maxnreg = 24;
  EXPECT_EQ(compile(bounded).compiled, 1u) << "maxnreg";
  EXPECT_LE(last_->resources.registers, 24);
  std::string changed = kAdd;
  changed.replace(changed.find("x + y"), 5, "x - y");
  EXPECT_EQ(compile(request_for(changed, "sm_80")).compiled, 1u) << "text";
}

TEST_F(CubinCache, CommentsCostTheFrontEndOnly) {
  compile(request_for(kAdd, "sm_80"));
  std::string commented = "# a comment, which moves every line\n" + std::string(kAdd);
  CompileCounters counters = compile(request_for(commented, "sm_80"));
  EXPECT_EQ(counters.compiled, 0u);
  EXPECT_EQ(counters.exact_hits, 1u);
  EXPECT_EQ(compile(request_for(commented, "sm_80")).disk_hits, 1u) << "known from now on";
}

TEST_F(CubinCache, DamagedEntriesAreCompiledAgain) {
  CompileRequest request = request_for(kAdd, "sm_80");
  compile(request);
  std::string good = last_->function->cubin();
  std::vector<fs::path> files = entries(folder_.path());
  ASSERT_EQ(files.size(), 2u) << "an alias and a kernel";
  for (const fs::path& file : files) {
    fs::resize_file(file, fs::file_size(file) / 2);
    CompileCounters counters = compile(request);
    EXPECT_EQ(counters.compiled + counters.exact_hits, 1u) << file;
    EXPECT_EQ(last_->function->cubin(), good);
    EXPECT_EQ(compile(request).disk_hits, 1u) << "repaired";
  }
}

TEST_F(CubinCache, UnwritableDirectoryCompiles) {
  std::ofstream(folder_.path() + "/file") << "x";
  CompileService service({folder_.path() + "/file/cache", 1 << 20});
  EXPECT_TRUE(service.compile(request_for(kAdd, "sm_80")).ok());
  EXPECT_GE(service.disk().counters().failed_stores, 1u);
}

TEST(CompileServiceTest, OverlappingRequestsCompileOnce) {
  CompileService service(cache::CacheOptions{});
  CompileRequest request = request_for(kAdd, "interp");
  std::vector<std::thread> threads;
  std::vector<CompiledPtr> results(8);
  for (CompiledPtr& result : results)
    threads.emplace_back([&] { result = service.compile(request).value(); });
  for (std::thread& thread : threads) thread.join();
  for (const CompiledPtr& result : results) EXPECT_EQ(result, results[0]);
  CompileCounters counters = service.counters();
  EXPECT_EQ(counters.compiled, 1u);
  EXPECT_EQ(counters.requests, 8u);
  EXPECT_EQ(counters.memory_hits, 7u);
}

TEST(CompileServiceTest, FailuresAreNotKept) {
  CompileService service(cache::CacheOptions{});
  CompileRequest request = request_for(kAdd, "interp", 100);  // no power of two
  for (int i = 0; i < 2; ++i) {
    auto result = service.compile(request);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().text().find("test.py:7:"), std::string::npos) << result.error().text();
  }
  EXPECT_EQ(service.counters().memory_hits, 0u);
}

TEST(CompileServiceTest, StopsBetweenStages) {
  CompileService service(cache::CacheOptions{});
  CompileRequest request = request_for(kAdd, "interp");
  std::stop_source source;
  request.stop = source.get_token();
  std::vector<std::string> stages;
  request.on_stage = [&](std::string_view stage) {
    stages.emplace_back(stage);
    source.request_stop();
  };
  auto result = service.compile(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, DiagKind::kInterrupted);
  EXPECT_EQ(stages, std::vector<std::string>{"lower"});
}

TEST(Platforms, HaveNames) {
  for (const char* name : {"cpu", "interp", "sm_75", "sm_90", "emulated:sm_89"})
    EXPECT_EQ(parse_platform(name).value().name(), name);
  EXPECT_EQ(parse_platform("emulated").value().name(), "emulated:sm_80");
  auto unknown = parse_platform("sm_12");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, DiagKind::kNoDevice);
  EXPECT_NE(unknown.error().hint.find("sm_89"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::runtime
