// The compile service: keys, memory, and the pipeline of each backend.
#include "runtime/compile/compile.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>

#include "codegen/passes/passes.h"
#include "dsl/base/check.h"
#include "runtime/compile/entry.h"

namespace tilewright::runtime {

std::string_view backend_name(Backend backend) {
  switch (backend) {
    case Backend::kCuda:
      return "cuda";
    case Backend::kCpu:
      return "cpu";
    case Backend::kEmulated:
      return "emulated";
    case Backend::kInterp:
      return "interp";
  }
  TW_UNREACHABLE("unknown backend");
}

std::string Platform::name() const {
  if (backend == Backend::kCuda) return std::string(target->name);
  if (backend == Backend::kEmulated) return "emulated:" + std::string(target->name);
  return std::string(backend_name(backend));
}

Result<Platform> parse_platform(std::string_view name) {
  constexpr std::string_view kDefaultTarget = "sm_80";
  if (name == "cpu") return Platform{Backend::kCpu, nullptr};
  if (name == "interp") return Platform{Backend::kInterp, nullptr};
  bool emulated = name.starts_with("emulated");
  std::string_view target = name;
  if (name == "cuda" || name == "emulated") target = kDefaultTarget;
  if (emulated && name.size() > 9 && name[8] == ':') target = name.substr(9);
  if (const Target* found = find_target(target))
    return Platform{emulated ? Backend::kEmulated : Backend::kCuda, found};
  std::string known;
  for (const Target& one : all_targets()) known += ", " + std::string(one.name);
  return make_error(DiagKind::kNoDevice, fmt::format("there is no target `{}`", name),
                    "the targets are cpu, interp" + known + ", and emulated:sm_…");
}

namespace {

Status check_stop(const CompileRequest& request) {
  if (!request.stop.stop_requested()) return {};
  return make_error(DiagKind::kInterrupted,
                    fmt::format("the compilation of `{}` was stopped", request.kernel));
}

Status enter_stage(const CompileRequest& request, std::string_view stage) {
  TW_TRY(check_stop(request));
  if (request.on_stage) request.on_stage(stage);
  return {};
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::vector<ir::Type> parameter_types(const ir::Module& module) {
  std::vector<ir::Type> types;
  for (ir::ValueId id : module.region(module.body).args) types.push_back(module.type(id));
  return types;
}

cuda::Options cuda_options(const CompileRequest& request) {
  cuda::Options options;
  options.line_info = request.line_info;
  if (request.line_info) options.sources = &request.program->sources();
  return options;
}

}  // namespace

Result<ir::Module> build_ir(const CompileRequest& request) {
  TW_TRY(enter_stage(request, "lower"));
  TW_ASSIGN(ir::Module module,
            frontend::lower(*request.program, request.kernel, request.specialization));
  TW_TRY(enter_stage(request, "passes"));
  passes::PipelineOptions options;
  options.fp_fusion = request.specialization.fp_fusion;
  TW_TRY(passes::run_pipeline(module, options));
  return module;
}

// A compile that others may wait for, and its answer afterwards.
struct CompileService::InFlight {
  std::condition_variable done_signal;
  bool done = false;
  std::optional<Result<CompiledPtr>> result;
};

CompileService::CompileService(cache::CacheOptions options) : disk_(std::move(options)) {}
CompileService::~CompileService() = default;

CompileCounters CompileService::counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

Result<CompiledPtr> CompileService::compile(const CompileRequest& request) {
  cache::Hash128 key = request_key(request);
  std::string name = key.hex();
  std::shared_ptr<InFlight> mine;
  {
    std::unique_lock lock(mutex_);
    ++counters_.requests;
    while (true) {
      auto [it, added] = known_.try_emplace(name, nullptr);
      if (added) {
        mine = it->second = std::make_shared<InFlight>();
        break;
      }
      std::shared_ptr<InFlight> other = it->second;
      other->done_signal.wait(lock, [&] { return other->done; });
      // Another caller's wish to stop is not ours: take over.
      bool stopped = !other->result->ok() && other->result->error().kind == DiagKind::kInterrupted;
      if (stopped && !request.stop.stop_requested()) continue;
      ++counters_.memory_hits;
      return *other->result;
    }
  }
  auto publish = [&](Result<CompiledPtr> result) {
    std::lock_guard lock(mutex_);
    mine->result = std::move(result);
    mine->done = true;
    if (!mine->result->ok()) known_.erase(name);
    mine->done_signal.notify_all();
  };
  try {
    publish(compile_uncached(request, key));
  } catch (const std::exception& defect) {
    // Those who wait must hear of it too; the exception goes on to the caller.
    publish(make_error(DiagKind::kInternal, defect.what()));
    throw;
  }
  return *mine->result;
}

Result<CompiledPtr> CompileService::compile_uncached(const CompileRequest& request,
                                                     const cache::Hash128& key) {
  auto start = std::chrono::steady_clock::now();
  auto compiled = std::make_shared<CompiledKernel>();
  compiled->kernel = request.kernel;
  compiled->platform = request.platform;
  compiled->program = request.program;
  compiled->key = key.hex();
  if (request.platform.backend == Backend::kCuda) {
    TW_TRY(compile_cuda(request, key, *compiled));
  } else {
    TW_TRY(compile_host(request, *compiled));
    std::lock_guard lock(mutex_);
    ++counters_.compiled;
  }
  compiled->compile_ms = milliseconds_since(start);
  return CompiledPtr(std::move(compiled));
}

Status CompileService::compile_host(const CompileRequest& request, CompiledKernel& out) const {
  TW_ASSIGN(ir::Module module, build_ir(request));
  out.params = parameter_types(module);
  if (request.platform.backend == Backend::kInterp) {
    out.module = std::make_shared<const ir::Module>(std::move(module));
  } else if (request.platform.backend == Backend::kCpu) {
    TW_TRY(enter_stage(request, "llvm"));
    cpu::Options options;
    if (request.line_info) options.debug_sources = &request.program->sources();
    TW_ASSIGN(out.cpu, cpu::compile(module, options));
  } else {
    TW_TRY(enter_stage(request, "emit"));
    TW_ASSIGN(out.source, cuda::emit(module, *request.platform.target, cuda_options(request)));
    TW_TRY(enter_stage(request, "host-compiler"));
    TW_ASSIGN(out.emulated, cuda::emulate(out.source));
  }
  return {};
}

Status CompileService::compile_cuda(const CompileRequest& request, const cache::Hash128& key,
                                    CompiledKernel& out) {
  const Target& target = *request.platform.target;
  auto count = [this](uint64_t CompileCounters::*counter) {
    std::lock_guard lock(mutex_);
    ++(counters_.*counter);
  };
  // The fast way: the entry that this very request left behind.
  if (std::optional<cache::Hash128> exact = load_alias(disk_, key)) {
    if (load_entry(disk_, *exact, out)) {
      count(&CompileCounters::disk_hits);
      return {};
    }
  }
  TW_ASSIGN(ir::Module module, build_ir(request));
  TW_TRY(enter_stage(request, "emit"));
  cuda::Options options = cuda_options(request);
  TW_ASSIGN(out.source, cuda::emit(module, target, options));
  TW_ASSIGN(cuda::NvrtcInfo nvrtc, cuda::nvrtc_info());
  cache::Hash128 exact = exact_key(out.source, target, nvrtc, options);
  if (load_entry(disk_, exact, out)) {
    count(&CompileCounters::exact_hits);
    store_alias(disk_, key, exact, nvrtc);
    return {};
  }
  TW_TRY(enter_stage(request, "nvrtc"));
  TW_ASSIGN(cuda::Binary binary, cuda::compile(out.source, target, options));
  TW_ASSIGN(out.resources, cuda::read_resources(binary.cubin, out.source));
  out.params = out.source.params;
  out.log = std::move(binary.log);
  out.function = std::make_unique<launch::Function>(std::move(binary.cubin), out.source.entry,
                                                    out.source.threads, out.source.shared_bytes);
  count(&CompileCounters::compiled);
  store_entry(disk_, exact, out);
  store_alias(disk_, key, exact, nvrtc);
  return {};
}

}  // namespace tilewright::runtime
