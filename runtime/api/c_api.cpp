// The C interface: it only converts and catches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "dsl/base/check.h"
#include "runtime/api/merge.h"
#include "runtime/compile/kernel.h"
#include "tilewright/tilewright.h"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

struct tw_context {
  tw::Context context;
  tw::DeviceDescription device;
};
struct tw_environment {
  tw::EnvironmentTable table;
};
struct tw_kernel {
  tw::Kernel kernel;
  std::string signature;
};
struct tw_code {
  tw::runtime::CompiledPtr compiled;
};
struct tw_buffer {
  tw::Buffer buffer;
};

namespace {

thread_local std::string last_error, last_kind;

static_assert(static_cast<int>(tw::Dtype::kF64) == TW_F64 &&
              static_cast<int>(tw::Dtype::kF16) == TW_F16 &&
              static_cast<int>(tw::Dtype::kU8) == TW_U8);

tw_status status_of(tw::DiagKind kind) {
  using K = tw::DiagKind;
  switch (kind) {
    case K::kMissingArgument:
    case K::kUnknownArgument:
    case K::kBadArgument:
    case K::kBadLaunch:
      return TW_BAD_CALL;
    case K::kNoDriver:
    case K::kNoDevice:
    case K::kNoNvrtc:
    case K::kNoLlvm:
    case K::kNoHostCompiler:
      return TW_NO_DEVICE;
    case K::kOutOfMemory:
    case K::kOutOfResources:
      return TW_OUT_OF_RESOURCES;
    case K::kCudaError:
    case K::kBadCubin:
      return TW_DEVICE_ERROR;
    case K::kOutOfBounds:
    case K::kAssertFailed:
    case K::kFalseAssumption:
    case K::kBadLoopStep:
    case K::kOutOfFuel:
    case K::kSharedOutOfBounds:
    case K::kUninitializedRead:
    case K::kDataRace:
    case K::kUnfinishedCopy:
    case K::kDivergence:
    case K::kMisalignedAccess:
      return TW_RUN_ERROR;
    case K::kIo:
      return TW_IO;
    case K::kInternal:
      return TW_INTERNAL;
    default:
      return TW_BAD_KERNEL;  // everything else is said about the kernel's text
  }
}

tw_status set_error(tw_status status, std::string kind, std::string text) {
  last_error = std::move(text);
  last_kind = std::move(kind);
  return status;
}

tw_status fail(const tw::ErrorInfo& error) {
  return set_error(status_of(error.kind), std::string(tw::diag_name(error.kind)), error.text());
}

tw_status invalid(const char* what) {
  return set_error(TW_INVALID_ARGUMENT, "invalid-argument",
                   fmt::format("error: {} [invalid-argument]", what));
}

// Runs `body`, which returns a tw_status; nothing it throws gets out.
template <class Body>
tw_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const tw::Error& error) {
    return fail(error.info());
  } catch (const std::bad_alloc&) {
    return set_error(TW_OUT_OF_RESOURCES, "out-of-memory",
                     "error: host memory is exhausted [out-of-memory]");
  } catch (const std::exception& error) {
    return set_error(TW_INTERNAL, "internal", fmt::format("error: {} [internal]", error.what()));
  }
}

// A caller's struct as the newest version of it: what is missing is zero.
template <class Struct>
bool read_options(const Struct* given, Struct& out) {
  out = Struct{};
  if (!given) return true;
  if (given->struct_size < sizeof(size_t)) return false;
  std::memcpy(static_cast<void*>(&out), given, std::min(given->struct_size, sizeof(Struct)));
  return true;
}

template <class Struct>
bool write_info(const Struct& from, Struct* to) {
  if (!to || to->struct_size < sizeof(size_t)) return false;
  size_t size = std::min(to->struct_size, sizeof(Struct));
  size_t head = sizeof(size_t);
  std::memcpy(reinterpret_cast<char*>(to) + head, reinterpret_cast<const char*>(&from) + head,
              size - head);
  return true;
}

// Null if the value is well-formed.
const char* to_value(const tw_value& in, tw::Value& out) {
  if (in.dtype < -1 || in.dtype > TW_F64) return "a value has an unknown dtype";
  auto dtype = static_cast<tw::Dtype>(in.dtype);
  switch (in.kind) {
    case TW_NONE:
      out = tw::Value(nullptr);
      return nullptr;
    case TW_BOOL:
      out = tw::Value(in.as.integer != 0);
      return nullptr;
    case TW_INT:
      out = tw::Value(in.as.integer);
      return nullptr;
    case TW_UINT:
      out = tw::Value(static_cast<uint64_t>(in.as.integer));
      return nullptr;
    case TW_FLOAT:
      out = tw::Value(in.as.number);
      return nullptr;
    case TW_POINTER: {
      auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(in.as.pointer));
      out = tw::Value(in.dtype < 0 ? tw::Argument::pointer(address)
                                   : tw::Argument::pointer(address, dtype, in.bytes));
      out.argument.bytes = in.bytes;
      return nullptr;
    }
    case TW_STRING:
      if (!in.as.string) return "a string value is null";
      out = tw::Value(in.as.string);
      return nullptr;
    case TW_DTYPE:
      if (in.dtype < 0) return "a dtype value has no dtype";
      out = tw::Value(dtype);
      return nullptr;
    default:
      return "a value has an unknown kind";
  }
}

// The values and options of a call.
struct Call {
  union Slot {  // unused ones stay uninitialised
    tw::Argument argument;
    Slot() {}
  };
  tw::LaunchOptions options;
  std::array<Slot, 128> positional;
  size_t count = 0;

  const char* fill(const tw_launch_options* given, const tw_value* values, size_t value_count) {
    tw_launch_options o;
    if (!read_options(given, o)) return "struct_size of the launch options is not set";
    if (value_count > 0 && !values) return "values is null";
    bool zeroed = o.grid[0] == 0 && o.grid[1] == 0 && o.grid[2] == 0;
    if (!zeroed) options.grid = {o.grid[0], o.grid[1], o.grid[2]};
    options.stream = o.stream;
    options.num_warps = o.num_warps;
    options.num_stages = o.num_stages;
    options.fp_fusion = o.no_fp_fusion == 0;
    options.debug = o.debug != 0;
    options.threads = o.threads;
    options.maxnreg = o.maxnreg;
    for (size_t i = 0; i < value_count; ++i) {
      tw::Value value;
      if (const char* wrong = to_value(values[i], value)) return wrong;
      if (values[i].name) {
        options.constants.add(values[i].name, value);
        continue;
      }
      if (value.kind != tw::Value::Kind::kArgument)
        return "strings and dtypes are constants and must be given by name";
      if (count == positional.size()) return "too many values";
      positional[count++].argument = value.argument;
    }
    return nullptr;
  }
  std::span<const tw::Argument> arguments() const { return {&positional[0].argument, count}; }
};

tw_status make_kernel(tw_context* context, std::string text, std::string path, const char* name,
                      const tw_environment* environment, tw_kernel** out) {
  static const tw::EnvironmentTable kEmpty;
  auto merged = tw::merge(std::move(text), environment ? environment->table : kEmpty);
  if (!merged) return fail(merged.error());
  auto program =
      tw::load_program(std::move(path), std::move(merged->text), std::move(merged->environment));
  if (!program) return fail(program.error());
  auto kernel = tw::runtime::Kernel::create(*program, name, context->context.internal_service(),
                                            context->context.internal_device());
  if (!kernel) return fail(kernel.error());
  tw::Kernel handle(*kernel);
  std::string signature = handle.signature();
  *out = new tw_kernel{std::move(handle), std::move(signature)};
  return TW_OK;
}

}  // namespace

extern "C" {

const char* tw_last_error(void) {
  return last_error.c_str();
}
const char* tw_last_error_kind(void) {
  return last_kind.c_str();
}
const char* tw_version(void) {
  return tw::version().data();
}

// ---- contexts ----

tw_status tw_context_create(const tw_context_options* given, tw_context** out) {
  return guarded([&] {
    tw_context_options options;
    if (!out) return invalid("out is null");
    if (!read_options(given, options)) return invalid("struct_size of the options is not set");
    tw::ContextOptions internal;
    if (options.device) internal.device = options.device;
    if (options.cache) internal.cache = options.cache;
    auto context = tw::Context::open(internal);
    if (!context) return fail(context.error());
    tw::DeviceDescription device = context->device();
    *out = new tw_context{std::move(*context), std::move(device)};
    return TW_OK;
  });
}

void tw_context_destroy(tw_context* context) {
  delete context;
}

tw_status tw_context_device(const tw_context* context, tw_device_info* info) {
  return guarded([&] {
    if (!context) return invalid("context is null");
    const tw::DeviceDescription& d = context->device;
    tw_device_info out{0,         d.kind.c_str(),    d.name.c_str(), d.target.c_str(),
                       d.ordinal, d.multiprocessors, d.memory_bytes};
    return write_info(out, info) ? TW_OK : invalid("info is null or has no struct_size");
  });
}

tw_status tw_context_synchronize(tw_context* context, void* stream) {
  return guarded([&] {
    if (!context) return invalid("context is null");
    tw::Status status = context->context.synchronize(stream);
    return status ? TW_OK : fail(status.error());
  });
}

tw_status tw_context_cache(const tw_context* context, tw_cache_info* info) {
  return guarded([&] {
    if (!context) return invalid("context is null");
    tw::CacheStatistics s = context->context.cache();
    tw_cache_info out{0, s.compiled, s.memory_hits, s.disk_hits};
    return write_info(out, info) ? TW_OK : invalid("info is null or has no struct_size");
  });
}

// ---- environments ----

tw_status tw_environment_create(tw_environment** out) {
  return guarded([&] {
    if (!out) return invalid("out is null");
    *out = new tw_environment;
    return TW_OK;
  });
}

void tw_environment_destroy(tw_environment* environment) {
  delete environment;
}

tw_status tw_environment_set(tw_environment* environment, const char* name, const tw_value* value) {
  return guarded([&] {
    if (!environment || !name || !value) return invalid("environment, name or value is null");
    tw::Value converted;
    if (const char* wrong = to_value(*value, converted)) return invalid(wrong);
    if (converted.kind == tw::Value::Kind::kArgument &&
        converted.argument.kind == tw::Argument::Kind::kPointer)
      return invalid("an environment cannot hold a pointer");
    environment->table.set(name, tw::to_constant(converted));
    return TW_OK;
  });
}

tw_status tw_environment_set_function(tw_environment* environment, const char* name,
                                      const char* source, const char* function,
                                      const tw_environment* own_environment) {
  return guarded([&] {
    if (!environment || !name || !function) return invalid("environment, name or function is null");
    environment->table.set_function(
        name, source ? source : "", function,
        own_environment ? own_environment->table : tw::EnvironmentTable());
    return TW_OK;
  });
}

// ---- kernels ----

tw_status tw_kernel_from_source(tw_context* context, const char* source, const char* path,
                                const char* name, const tw_environment* environment,
                                tw_kernel** out) {
  return guarded([&] {
    if (!context || !source || !name || !out)
      return invalid("context, source, name or out is null");
    return make_kernel(context, source, path ? path : "<source>", name, environment, out);
  });
}

tw_status tw_kernel_from_file(tw_context* context, const char* path, const char* name,
                              const tw_environment* environment, tw_kernel** out) {
  return guarded([&] {
    if (!context || !path || !name || !out) return invalid("context, path, name or out is null");
    auto text = tw::read_text_file(path);
    if (!text) return fail(text.error());
    return make_kernel(context, std::move(*text), path, name, environment, out);
  });
}

void tw_kernel_destroy(tw_kernel* kernel) {
  delete kernel;
}

const char* tw_kernel_signature(const tw_kernel* kernel) {
  return kernel ? kernel->signature.c_str() : "";
}

size_t tw_kernel_parameter_count(const tw_kernel* kernel) {
  return kernel ? kernel->kernel.internal()->info().params.size() : 0;
}

const char* tw_kernel_parameter_name(const tw_kernel* kernel, size_t index) {
  if (index >= tw_kernel_parameter_count(kernel)) return "";
  return kernel->kernel.internal()->info().params[index].name.c_str();
}

int tw_kernel_parameter_is_constexpr(const tw_kernel* kernel, size_t index) {
  if (index >= tw_kernel_parameter_count(kernel)) return 0;
  return kernel->kernel.internal()->info().params[index].is_constexpr;
}

tw_status tw_kernel_launch(tw_kernel* kernel, const tw_launch_options* options,
                           const tw_value* values, size_t count) {
  return guarded([&] {
    if (!kernel) return invalid("kernel is null");
    Call call;
    if (const char* wrong = call.fill(options, values, count)) return invalid(wrong);
    tw::Status status = kernel->kernel.launch_packed(call.options, call.arguments());
    return status ? TW_OK : fail(status.error());
  });
}

tw_status tw_kernel_prepare(tw_kernel* kernel, const tw_launch_options* options,
                            const tw_value* values, size_t count, tw_kernel_info* info) {
  return guarded([&] {
    if (!kernel) return invalid("kernel is null");
    Call call;
    if (const char* wrong = call.fill(options, values, count)) return invalid(wrong);
    auto r = kernel->kernel.prepare_packed(call.options, call.arguments());
    if (!r) return fail(r.error());
    tw_kernel_info out{0,         r->registers, r->shared_bytes, r->stack_bytes,
                       r->spills, r->threads,   r->from_disk,    r->compile_ms};
    if (info && !write_info(out, info)) return invalid("info has no struct_size");
    return TW_OK;
  });
}

// ---- code ----

tw_status tw_kernel_compile(tw_kernel* kernel, const char* target, const tw_launch_options* options,
                            const tw_value* values, size_t count, tw_code** out) {
  return guarded([&] {
    if (!kernel || !target || !out) return invalid("kernel, target or out is null");
    Call call;
    if (const char* wrong = call.fill(options, values, count)) return invalid(wrong);
    auto compiled = tw::compile_for_target(kernel->kernel, target, call.options, call.arguments());
    if (!compiled) return fail(compiled.error());
    *out = new tw_code{std::move(*compiled)};
    return TW_OK;
  });
}

void tw_code_destroy(tw_code* code) {
  delete code;
}

const void* tw_code_cubin(const tw_code* code, size_t* bytes) {
  if (bytes) *bytes = code ? code->compiled->function->cubin().size() : 0;
  return code ? code->compiled->function->cubin().data() : nullptr;
}

const char* tw_code_entry(const tw_code* code) {
  return code ? code->compiled->source.entry.c_str() : "";
}

int32_t tw_code_threads(const tw_code* code) {
  return code ? code->compiled->source.threads : 0;
}

int32_t tw_code_dynamic_shared_bytes(const tw_code* code) {
  return code ? code->compiled->source.shared_bytes : 0;
}

// ---- memory ----

tw_status tw_buffer_create(tw_context* context, size_t bytes, tw_buffer** out) {
  return guarded([&] {
    if (!context || !out) return invalid("context or out is null");
    auto buffer = context->context.allocate(bytes);
    if (!buffer) return fail(buffer.error());
    *out = new tw_buffer{std::move(*buffer)};
    return TW_OK;
  });
}

void tw_buffer_destroy(tw_buffer* buffer) {
  delete buffer;
}
void* tw_buffer_data(const tw_buffer* buffer) {
  return buffer ? buffer->buffer.data() : nullptr;
}
size_t tw_buffer_bytes(const tw_buffer* buffer) {
  return buffer ? buffer->buffer.bytes() : 0;
}

tw_status tw_buffer_upload(tw_buffer* buffer, const void* from, size_t bytes, void* stream) {
  return guarded([&] {
    if (!buffer || (!from && bytes)) return invalid("buffer or from is null");
    tw::Status status = buffer->buffer.upload(from, bytes, stream);
    return status ? TW_OK : fail(status.error());
  });
}

tw_status tw_buffer_download(const tw_buffer* buffer, void* to, size_t bytes, void* stream) {
  return guarded([&] {
    if (!buffer || (!to && bytes)) return invalid("buffer or to is null");
    tw::Status status = buffer->buffer.download(to, bytes, stream);
    return status ? TW_OK : fail(status.error());
  });
}

}  // extern "C"
