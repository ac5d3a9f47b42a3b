#include "codegen/cpu/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "codegen/cpu/emitter.h"
#include "codegen/cpu/orc.h"
#include "codegen/cpu/prepare.h"
#include "codegen/cpu/thread_pool.h"
#include "codegen/passes/expand_dots.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {
namespace {

struct Emitted {
  std::string text, symbol;
  std::vector<Failure> failures;
  int64_t arena_bytes = 0;
  size_t arguments = 0;
};

Emitted emit(const ir::Module& module, const Options& options) {
  ir::Module prepared = module;
  passes::expand_dots(prepared, [](const ir::Module&, const ir::OpNode&) { return false; });
  scalarize_induction(prepared);
  int vector_bytes = options.vector_bytes != 0 ? options.vector_bytes : host_info().vector_bytes;
  Emitter emitter(prepared, vector_bytes, options.debug_sources);
  Emitted out;
  out.text = emitter.run();
  out.symbol = emitter.symbol();
  out.failures = emitter.failures();
  out.arena_bytes = emitter.arena_bytes();
  out.arguments = prepared.region(prepared.body).args.size();
  return out;
}

// The buffers of a thread, kept from run to run. Chunks read from short rows may reach a little
// behind the last buffer.
class Arena {
 public:
  ~Arena() { std::free(data_); }
  void* reserve(int64_t bytes) {
    constexpr size_t kPadding = 1024;
    size_t wanted = (static_cast<size_t>(bytes) + kPadding + 63) & ~size_t{63};
    if (wanted > size_) {
      std::free(data_);
      data_ = std::aligned_alloc(64, wanted);
      size_ = data_ ? wanted : 0;
    }
    return data_;
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// The failure of the program with the smallest index.
struct FirstFailure {
  std::mutex mutex;
  uint64_t program = UINT64_MAX;
  int64_t code = 0;

  void report(uint64_t index, int64_t failure) {
    std::lock_guard lock(mutex);
    if (index >= program) return;
    program = index;
    code = failure;
  }
};

class CompiledKernel : public Kernel {
 public:
  CompiledKernel(Emitted emitted, std::unique_ptr<MachineCode> code, const SourceMap* sources)
      : emitted_(std::move(emitted)), code_(std::move(code)) {
    entry_ = reinterpret_cast<Entry>(code_->entry());
    for (const Failure& failure : emitted_.failures)
      failures_.push_back(describe(failure, sources));
  }

  Status run(const Launch& launch, int threads) const override {
    TW_CHECK(launch.arguments.size() == emitted_.arguments,
             "a launch has one argument slot for each parameter");
    constexpr int64_t kNoMemory = -1;
    auto [gx, gy, gz] = launch.grid;
    FirstFailure failure;
    parallel_ranges(uint64_t{gx} * gy * gz, threads, [&](uint64_t begin, uint64_t end) {
      thread_local Arena arena;
      void* buffers = arena.reserve(emitted_.arena_bytes);
      if (!buffers) return failure.report(begin, kNoMemory), false;
      for (uint64_t i = begin; i < end; ++i) {
        auto x = static_cast<uint32_t>(i % gx);
        auto y = static_cast<uint32_t>(i / gx % gy);
        auto z = static_cast<uint32_t>(i / gx / gy);
        int64_t code = entry_(launch.arguments.data(), buffers, x, y, z, gx, gy, gz);
        if (code != 0) return failure.report(i, code), false;
      }
      return true;
    });
    if (failure.code == 0) return {};
    if (failure.code == kNoMemory)
      return make_error(DiagKind::kOutOfMemory,
                        fmt::format("a program instance needs {} bytes of buffers, which could not "
                                    "be allocated",
                                    emitted_.arena_bytes));
    return error_of(failure, launch);
  }

 private:
  using Entry = int64_t (*)(const uint64_t*, void*, uint32_t, uint32_t, uint32_t, uint32_t,
                            uint32_t, uint32_t);
  // A failure with its place rendered; the message still lacks element and program.
  struct Described {
    Failure failure;
    std::string path;
    std::string source;
  };

  static Described describe(const Failure& failure, const SourceMap* sources) {
    Described out{failure, {}, {}};
    std::replace(out.failure.message.begin(), out.failure.message.end(), '\n', ' ');
    if (sources && failure.span.valid() && failure.span.file < sources->size()) {
      const SourceFile& file = sources->file(failure.span.file);
      out.path = file.path();
      out.source = file.text();
    }
    return out;
  }

  ErrorInfo error_of(const FirstFailure& first, const Launch& launch) const {
    const Described& d = failures_[static_cast<size_t>((first.code >> 32) - 1)];
    std::string text = d.failure.message;
    if (d.failure.has_element) text += fmt::format(", at element {}", first.code & 0xffffffff);
    uint64_t gx = launch.grid[0], gy = launch.grid[1], i = first.program;
    text += fmt::format(", in `{}` of program ({}, {}, {})", d.failure.mnemonic, i % gx,
                        i / gx % gy, i / gx / gy);
    ErrorInfo error = make_error(d.failure.kind, text);
    if (!d.path.empty()) {
      SourceMap sources;
      Span span = d.failure.span;
      span.file = sources.add(d.path, d.source);
      DiagSink sink;
      sink.error(d.failure.kind, span, text);
      error.details = render(sink, sources);
    }
    return error;
  }

  Emitted emitted_;
  std::unique_ptr<MachineCode> code_;
  Entry entry_ = nullptr;
  std::vector<Described> failures_;
};

}  // namespace

bool available() {
  return llvm_available();
}

std::string target_description() {
  return host_info().cpu + "/llvm-" + host_info().llvm_version;
}

Result<std::string> emit_llvm(const ir::Module& module, const Options& options) {
  return emit(module, options).text;
}

Result<std::string> emit_assembly(const ir::Module& module, const Options& options) {
  return assemble_ir(emit(module, options).text, options.opt_level);
}

Result<std::shared_ptr<Kernel>> compile(const ir::Module& module, const Options& options) {
  Emitted emitted = emit(module, options);
  TW_ASSIGN(auto code, compile_ir(emitted.text, emitted.symbol, options.opt_level,
                                  options.debug_sources != nullptr));
  emitted.text.clear();
  return std::shared_ptr<Kernel>(
      std::make_shared<CompiledKernel>(std::move(emitted), std::move(code), options.debug_sources));
}

}  // namespace tilewright::cpu
