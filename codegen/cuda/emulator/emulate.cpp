// The emulator's entry: builds a kernel for the host, runs its grid, and words what went wrong.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/emulator/block.h"
#include "codegen/cuda/emulator/host_library.h"
#include "codegen/cuda/emulator/loop_steps.h"

namespace tilewright::cuda {
namespace {

constexpr const char* kEntry = "tw_emulated_entry";
constexpr uint32_t kMaxThreads = 1024;
constexpr size_t kGroup = 32;     // kernels that share a library
constexpr int kNewestArch = 900;  // for sources that name no target

// Calls the kernel with its arguments taken from 64-bit slots, whatever their types are.
constexpr std::string_view kCaller = R"(
#line 1 "caller"
template <class... T> struct tw_types {};
template <class F, class... Have>
static void tw_call(F f, const u64*, tw_types<>, Have... have) { f(have...); }
template <class F, class T, class... Rest, class... Have>
static void tw_call(F f, const u64* slot, tw_types<T, Rest...>, Have... have) {
  T value;
  __builtin_memcpy(&value, slot, sizeof(T));
  tw_call(f, slot + 1, tw_types<Rest...>{}, have..., value);
}
template <class... P>
static void tw_call_kernel(void (*f)(P...), const u64* slots) { tw_call(f, slots, tw_types<P...>{}); }
)";

// Kernels of one target behind the prelude, each in a namespace, since many have the same name.
std::string host_text(std::span<const Source* const> sources) {
  const int sm = sources.front()->sm;
  std::string text = fmt::format("#define __CUDA_ARCH__ {}\n{}\n{}",
                                 sm != 0 ? sm * 10 : kNewestArch, host_prelude(), kCaller);
  for (size_t i = 0; i < sources.size(); ++i)
    text += fmt::format(
        "namespace tw_kernel_{0} {{\n#line 1 \"{1}.cu\"\n{2}\n}}\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) void {3}_{0}(const u64* slots) {{\n"
        "  tw_call_kernel(tw_kernel_{0}::{1}, slots);\n}}\n",
        i, sources[i]->entry, count_loop_turns(sources[i]->text), kEntry);
  return text;
}

// Line `number` of the emitted text, if `file` is the text itself.
std::string text_line(const Source& source, const std::string& file, int number) {
  if (file != source.entry + ".cu") return {};
  size_t begin = 0;
  for (int line = 1; line < number && begin != std::string::npos; ++line) {
    begin = source.text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return {};
  return source.text.substr(begin, source.text.find('\n', begin) - begin);
}

ErrorInfo to_error(const Source& source, const Fault& fault) {
  std::string where = fmt::format("{}:{}", fault.file, fault.line);
  ErrorInfo error = make_error(
      fault.kind,
      fmt::format("{}: {} by thread {} (warp {}, lane {}) of block ({}, {}, {}): {}", where,
                  fault.intrinsic, fault.thread, fault.thread / kWarpSize, fault.thread % kWarpSize,
                  fault.block_id[0], fault.block_id[1], fault.block_id[2], fault.message));
  error.details = fmt::format(
      "{}: error: {} by thread {} (warp {}, lane {}) of block ({}, {}, {}): "
      "{} [{}]\n",
      where, fault.intrinsic, fault.thread, fault.thread / kWarpSize, fault.thread % kWarpSize,
      fault.block_id[0], fault.block_id[1], fault.block_id[2], fault.message,
      diag_name(fault.kind));
  if (std::string line = text_line(source, fault.file, fault.line); !line.empty())
    error.details += fmt::format("{:5} | {}\n", fault.line, line);
  return error;
}

class Kernel final : public EmulatedKernel {
 public:
  Kernel(Source source, std::shared_ptr<HostLibrary> library, KernelFunction function)
      : source_(std::move(source)), library_(std::move(library)), function_(function) {}

  Status run(const Launch& launch, const EmulatorOptions& options) const override {
    if (launch.arguments.size() != source_.params.size())
      return make_error(DiagKind::kBadLaunch,
                        fmt::format("{} takes {} arguments, {} were given", source_.entry,
                                    source_.params.size(), launch.arguments.size()));
    const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    const auto cores = static_cast<uint64_t>(std::max(1u, std::thread::hardware_concurrency()));
    const uint64_t wanted = options.threads <= 0 ? cores : static_cast<uint64_t>(options.threads);
    Grid grid{launch, options, blocks};
    std::vector<std::thread> helpers;
    for (uint64_t i = 1; i < std::min(wanted, blocks); ++i)
      helpers.emplace_back([&] { run_blocks(grid); });
    run_blocks(grid);
    for (std::thread& helper : helpers) helper.join();
    if (grid.error) return *grid.error;
    return {};
  }

 private:
  // One run over the grid. Of several faults, that of the lowest block is reported.
  struct Grid {
    const Launch& launch;
    const EmulatorOptions& options;
    uint64_t blocks;
    std::atomic<uint64_t> next = 0;
    std::mutex mutex = {};
    uint64_t failed = ~uint64_t{0};
    std::optional<ErrorInfo> error = {};

    void fail(uint64_t block, ErrorInfo info) {
      std::lock_guard lock(mutex);
      if (block < failed) failed = block, error = std::move(info);
      next = blocks;
    }
  };

  void run_blocks(Grid& grid) const {
    auto threads = static_cast<uint32_t>(source_.threads);
    std::unique_ptr<FiberStacks> stacks = FiberStacks::create(threads);
    if (!stacks)
      return grid.fail(0, make_error(DiagKind::kOutOfMemory,
                                     fmt::format("no address space for {} stacks of {} KB", threads,
                                                 kTwStackBytes / 1024)));
    Block block({function_, threads, static_cast<uint32_t>(source_.shared_bytes), &grid.options,
                 grid.launch.arguments, grid.launch.grid},
                *stacks);
    const auto& extent = grid.launch.grid;
    for (uint64_t i = grid.next++; i < grid.blocks; i = grid.next++) {
      std::array<uint32_t, 3> id = {static_cast<uint32_t>(i % extent[0]),
                                    static_cast<uint32_t>(i / extent[0] % extent[1]),
                                    static_cast<uint32_t>(i / extent[0] / extent[1])};
      if (std::optional<Fault> fault = block.run(id))
        return grid.fail(i, to_error(source_, *fault));
    }
  }

  Source source_;
  std::shared_ptr<HostLibrary> library_;
  KernelFunction function_;
};

// Kernel `index` of a library built from host_text.
Result<std::shared_ptr<EmulatedKernel>> find_kernel(const Source& source,
                                                    std::shared_ptr<HostLibrary> library,
                                                    size_t index) {
  auto function =
      reinterpret_cast<KernelFunction>(library->find(fmt::format("{}_{}", kEntry, index).c_str()));
  if (function == nullptr)
    return make_error(DiagKind::kInternal, "an emulated kernel has no entry");
  return std::shared_ptr<EmulatedKernel>(
      std::make_shared<Kernel>(source, std::move(library), function));
}

Status check_block(const Source& source) {
  auto threads = static_cast<uint32_t>(source.threads);
  if (source.threads <= 0 || threads > kMaxThreads || threads % kWarpSize != 0)
    return make_error(DiagKind::kBadLaunch,
                      fmt::format("a block of {} threads is not 1 to {} warps of {}",
                                  source.threads, kMaxThreads / kWarpSize, kWarpSize));
  return {};
}

}  // namespace

Result<std::shared_ptr<EmulatedKernel>> emulate(const Source& source) {
  TW_TRY(check_block(source));
  const Source* alone = &source;
  TW_ASSIGN(auto library, load_host_library(host_text({&alone, 1}), source.entry));
  return find_kernel(source, std::move(library), 0);
}

std::vector<std::shared_ptr<EmulatedKernel>> emulate_all(const std::vector<Source>& sources) {
  std::map<int, std::vector<size_t>> by_target;
  for (size_t i = 0; i < sources.size(); ++i)
    if (check_block(sources[i]).ok()) by_target[sources[i].sm].push_back(i);
  std::vector<std::vector<size_t>> groups;
  for (auto& [sm, indices] : by_target)
    for (size_t i = 0; i < indices.size(); ++i) {
      if (i % kGroup == 0) groups.emplace_back();
      groups.back().push_back(indices[i]);
    }
  std::vector<std::shared_ptr<EmulatedKernel>> kernels(sources.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t g = next++; g < groups.size(); g = next++) {
      std::vector<const Source*> group;
      for (size_t i : groups[g]) group.push_back(&sources[i]);
      auto library = load_host_library(host_text(group), "many kernels", Effort::kQuickBuild);
      if (!library) continue;
      for (size_t k = 0; k < group.size(); ++k)
        if (auto kernel = find_kernel(*group[k], *library, k)) kernels[groups[g][k]] = *kernel;
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return kernels;
}

}  // namespace tilewright::cuda
