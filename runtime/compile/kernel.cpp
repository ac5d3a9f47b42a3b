#include "runtime/compile/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>

#include "codegen/interp/interp.h"
#include "dsl/base/check.h"

namespace tilewright::runtime {

// What distinguishes variants, packed: options, an entry for each named value, a byte for each
// positional argument, and the values that decide code.
struct Kernel::Key {
  static constexpr size_t kMaxWords = 256;
  size_t size = 0;
  bool overflow = false;
  uint64_t words[kMaxWords];

  void push(uint64_t word) {
    if (size < kMaxWords)
      words[size++] = word;
    else
      overflow = true;
  }
};

struct Kernel::Node {
  Variant variant;
  std::vector<uint64_t> key;
  const Node* next = nullptr;

  bool matches(const Key& other) const {
    return key.size() == other.size &&
           std::memcmp(key.data(), other.words, other.size * sizeof(uint64_t)) == 0;
  }
};

// Where launches on streams of another context go.
struct Kernel::Sibling {
  device::CUcontext context;
  Kernel* kernel;
  std::shared_ptr<Kernel> owner;  // empty when it is this kernel
  const Sibling* next;
};

namespace {

constexpr size_t kMaxArguments = launch::Function::kMaxParameters;

ErrorInfo too_many(const std::string& kernel) {
  return make_error(DiagKind::kBadLaunch, fmt::format("a launch of `{}` has more than {} arguments",
                                                      kernel, kMaxArguments));
}

// Three bits of kind, then what specialisation looks at. Integers: width, then is one or the class
// of divisibility. Pointers: pointee and alignment.
uint8_t tag_of(const Arg& arg) {
  unsigned tag = static_cast<unsigned>(arg.kind);
  if (arg.kind == Arg::Kind::kInt) {
    auto value = static_cast<int64_t>(arg.bits);
    unsigned width = arg.is_unsigned ? 2 : value == static_cast<int32_t>(value) ? 0 : 1;
    unsigned divisor =
        arg.bits == 1
            ? 5u
            : std::countr_zero(static_cast<uint64_t>(frontend::divisibility_class(arg.bits)));
    tag |= width << 3 | divisor << 5;
  } else if (arg.kind == Arg::Kind::kPointer) {
    // Four bits hold the dtypes; the value after the last one stands for "unknown".
    static_assert(static_cast<int>(Dtype::kF64) < 15);
    unsigned dtype = arg.has_dtype ? static_cast<unsigned>(arg.dtype) : 15;
    tag |= dtype << 3 | unsigned{arg.bits % 16 == 0} << 7;
  }
  return static_cast<uint8_t>(tag);
}

uint64_t options_word(const CallOptions& options, size_t positional, size_t named) {
  return static_cast<uint64_t>(options.num_warps & 0xff) |
         static_cast<uint64_t>(options.num_stages & 0xff) << 8 |
         static_cast<uint64_t>(options.fp_fusion) << 16 |
         static_cast<uint64_t>(options.debug) << 17 | static_cast<uint64_t>(positional) << 24 |
         static_cast<uint64_t>(named & 0xffff) << 40 |
         static_cast<uint64_t>(options.maxnreg & 0xff) << 56;
}

// The i-th argument, positional ones first.
Arg argument(std::span<const Arg> positional, std::span<const NamedArg> named, size_t i) {
  if (i < positional.size()) return positional[i];
  const NamedArg& one = named[i - positional.size()];
  return one.constant ? to_arg(*one.constant).value_or(Arg::none()) : one.value;
}

Status check_grid(const std::array<uint32_t, 3>& grid) {
  constexpr uint32_t kMaxX = 0x7fffffff, kMaxYZ = 65535;
  if (grid[0] <= kMaxX && grid[1] <= kMaxYZ && grid[2] <= kMaxYZ) return {};
  return make_error(DiagKind::kBadLaunch,
                    fmt::format("the grid ({}, {}, {}) is larger than ({}, {}, {})", grid[0],
                                grid[1], grid[2], kMaxX, kMaxYZ, kMaxYZ));
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<std::shared_ptr<Kernel>> Kernel::create(std::shared_ptr<const frontend::Program> program,
                                               std::string name,
                                               std::shared_ptr<CompileService> service,
                                               Device device) {
  if (!program->find(name)) {
    std::string known = list_of(program->functions());
    return make_error(
        DiagKind::kNoKernel, fmt::format("there is no kernel `{}`", name),
        known.empty() ? "the text has no @triton.jit function" : "the kernels are " + known);
  }
  TW_ASSIGN(frontend::KernelInfo info, frontend::describe_kernel(*program, name));
  return std::shared_ptr<Kernel>(
      new Kernel(std::move(program), std::move(info), std::move(service), device));
}

Kernel::Kernel(std::shared_ptr<const frontend::Program> program, frontend::KernelInfo info,
               std::shared_ptr<CompileService> service, Device device)
    : program_(std::move(program)),
      info_(std::move(info)),
      service_(std::move(service)),
      device_(device) {}

Kernel::~Kernel() {
  for (const Node* node = newest_.load(); node;) delete std::exchange(node, node->next);
  for (const Sibling* node = siblings_.load(); node;) delete std::exchange(node, node->next);
}

// ---- keys ----

// Named values come first in the key, so that the positional arguments after them fall to the same
// parameters whenever keys are equal. Names are found by looking on from the previous one: callers
// list constants in the order of the parameters.
Status Kernel::make_key(Key& key, const CallOptions& options, std::span<const Arg> positional,
                        std::span<const NamedArg> named) const {
  if (positional.size() + named.size() > kMaxArguments) return too_many(name());
  const size_t count = info_.params.size();
  const bool all_values = !info_.heuristics.empty();  // heuristics may look at any value
  std::bitset<kMaxArguments * 2> given;
  key.push(options_word(options, positional.size(), named.size()));
  size_t at = 0;
  for (const NamedArg& one : named) {
    size_t tried = 0;
    for (; tried < count && info_.params[at].name != one.name; ++tried)
      at = at + 1 < count ? at + 1 : 0;
    size_t index = tried < count ? at : count;
    if (index < std::min(count, given.size())) given.set(index);
    if (index == count) key.push(cache::hash_of(one.name).low);  // num_warps, or a mistake
    if (one.constant && one.constant->kind >= frontend::Constant::Kind::kString) {
      cache::Hash128 hash = cache::hash_of(to_string(*one.constant));
      key.push(index << 8 | 0xff);
      key.push(static_cast<uint64_t>(one.constant->kind));
      key.push(hash.high);
      key.push(hash.low);
      continue;
    }
    Arg value = one.constant ? *to_arg(*one.constant) : one.value;
    key.push(index << 8 | tag_of(value));
    bool decides = index == count || info_.params[index].is_constexpr || all_values;
    if (decides && value.kind != Arg::Kind::kPointer) key.push(value.bits);
  }
  for (size_t i = 0; i < positional.size(); i += 8) {
    uint64_t word = 0;
    for (size_t k = i; k < std::min(i + 8, positional.size()); ++k)
      word |= static_cast<uint64_t>(tag_of(positional[k])) << (k - i) * 8;
    key.push(word);
  }
  size_t param = 0;
  for (const Arg& arg : positional) {
    while (param < count && param < given.size() && given[param]) ++param;
    bool decides = param >= count || info_.params[param].is_constexpr || all_values;
    if (decides && arg.kind != Arg::Kind::kPointer) key.push(arg.bits);
    ++param;
  }
  return key.overflow ? Status(too_many(name())) : Status();
}

const Kernel::Node* Kernel::find(const Key& key) const {
  const Node* last = last_hit_.load(std::memory_order_acquire);
  if (last && last->matches(key)) return last;
  for (const Node* node = newest_.load(std::memory_order_acquire); node; node = node->next) {
    if (!node->matches(key)) continue;
    last_hit_.store(node, std::memory_order_release);
    return node;
  }
  return nullptr;
}

Result<const Kernel::Node*> Kernel::add(const Key& key, const CallOptions& options,
                                        std::span<const Arg> positional,
                                        std::span<const NamedArg> named) {
  TW_ASSIGN(BoundCall bound, bind_call(*program_, info_, positional, named, options));
  CompileRequest request;
  request.program = program_;
  request.kernel = info_.name;
  request.specialization = std::move(bound.specialization);
  request.platform = device_.platform();
  TW_ASSIGN(CompiledPtr compiled, service_->compile(request));
  TW_CHECK(compiled->params.size() == bound.slots.size(),
           "the compiled kernel has other run-time parameters than the call");
  std::lock_guard lock(add_mutex_);
  if (const Node* found = find(key)) return found;  // another thread was first
  auto* node = new Node;
  node->variant = {std::move(compiled), std::move(request.specialization), std::move(bound.slots)};
  node->key.assign(key.words, key.words + key.size);
  node->next = newest_.load();
  newest_.store(node, std::memory_order_release);
  last_hit_.store(node, std::memory_order_release);
  return static_cast<const Node*>(node);
}

Result<const Kernel::Node*> Kernel::find_or_add(const CallOptions& options,
                                                std::span<const Arg> positional,
                                                std::span<const NamedArg> named) {
  Key key;
  TW_TRY(make_key(key, options, positional, named));
  if (const Node* node = find(key)) return node;
  return add(key, options, positional, named);
}

// ---- places ----

Result<Kernel::Place> Kernel::place_of(void* stream) {
  if (!device_.is_cuda()) {
    if (!stream) return Place{this, nullptr};
    return make_error(DiagKind::kBadLaunch,
                      fmt::format("a CUDA stream was given to a kernel on the device `{}`",
                                  device_.platform().name()));
  }
  const device::Gpu& gpu = *device_.gpu();
  auto handle = static_cast<device::CUstream>(stream);
  if (device::is_default_stream(handle)) return Place{this, gpu.context()};
  device::CUcontext context = nullptr;
  TW_CUDA(gpu.driver(), stream_context, handle, &context);
  if (context == gpu.context()) return Place{this, context};
  for (const Sibling* s = siblings_.load(std::memory_order_acquire); s; s = s->next)
    if (s->context == context) return Place{s->kernel, context};
  return place_of_foreign(context);
}

Result<Kernel::Place> Kernel::place_of_foreign(device::CUcontext context) {
  TW_ASSIGN(device::Gpu * gpu, device::Gpu::of_context(context));
  std::shared_ptr<Kernel> owner;
  if (gpu != device_.gpu()) {
    TW_ASSIGN(Device device, Device::cuda(gpu->info().ordinal));
    owner.reset(new Kernel(program_, info_, service_, device));
  }
  std::lock_guard lock(add_mutex_);
  for (const Sibling* s = siblings_.load(); s; s = s->next)
    if (s->context == context) return Place{s->kernel, context};
  Kernel* kernel = owner ? owner.get() : this;
  siblings_.store(new Sibling{context, kernel, std::move(owner), siblings_.load()},
                  std::memory_order_release);
  return Place{kernel, context};
}

// ---- launches ----

Status Kernel::launch(const LaunchOptions& options, std::span<const Arg> positional,
                      std::span<const NamedArg> named) {
  TW_ASSIGN(Place place, place_of(options.stream));
  Key key;
  TW_TRY(make_key(key, options.call, positional, named));
  const Node* node = place.kernel->find(key);
  if (!node) {
    TW_TRY(place.kernel->check_memory(positional, named));
    TW_ASSIGN(node, place.kernel->add(key, options.call, positional, named));
  }
  return place.kernel->run(node->variant, place.context, options, positional, named);
}

// Host memory given to a GPU would end the context with an illegal address. Looking costs a driver
// call a pointer, so only a variant's first launch looks: that is where the mistake is made.
Status Kernel::check_memory(std::span<const Arg> positional,
                            std::span<const NamedArg> named) const {
  if (!device_.is_cuda()) return {};
  for (size_t i = 0; i < positional.size() + named.size(); ++i) {
    Arg arg = argument(positional, named, i);
    if (arg.kind != Arg::Kind::kPointer || device_.gpu()->can_access(arg.bits)) continue;
    return make_error(
        DiagKind::kBadArgument,
        fmt::format("argument {} of kernel `{}` lies in host memory ({:#x}), which {} "
                    "cannot access",
                    i + 1, name(), arg.bits, device_.description()),
        "give it device memory (Context::allocate, cudaMalloc) or pinned memory");
  }
  return {};
}

Result<const Variant*> Kernel::prepare(const LaunchOptions& options,
                                       std::span<const Arg> positional,
                                       std::span<const NamedArg> named) {
  TW_ASSIGN(Place place, place_of(options.stream));
  TW_ASSIGN(const Node* node, place.kernel->find_or_add(options.call, positional, named));
  if (const auto& function = node->variant.compiled->function)
    TW_TRY(function->prepare(place.kernel->device_.gpu()->driver(), place.context));
  return &node->variant;
}

Status Kernel::launch_variant(const Variant& variant, const LaunchOptions& options,
                              std::span<const Arg> positional, std::span<const NamedArg> named) {
  TW_ASSIGN(Place place, place_of(options.stream));
  return run(variant, place.context, options, positional, named);
}

Result<CompiledPtr> Kernel::compile_for(const Platform& platform, const CallOptions& options,
                                        std::span<const Arg> positional,
                                        std::span<const NamedArg> named) const {
  TW_ASSIGN(BoundCall bound, bind_call(*program_, info_, positional, named, options));
  CompileRequest request;
  request.program = program_;
  request.kernel = info_.name;
  request.specialization = std::move(bound.specialization);
  request.platform = platform;
  return service_->compile(request);
}

Status Kernel::run(const Variant& variant, device::CUcontext context, const LaunchOptions& options,
                   std::span<const Arg> positional, std::span<const NamedArg> named) const {
  TW_TRY(check_grid(options.grid));
  if (options.grid[0] == 0 || options.grid[1] == 0 || options.grid[2] == 0) return {};
  uint64_t slots[kMaxArguments];
  size_t count = 0;
  for (const SlotPlan& plan : variant.slots)
    slots[count++] = slot_bits(plan, argument(positional, named, plan.argument));
  if (context)
    return variant.compiled->function->launch(device_.gpu()->driver(), context, options.grid,
                                              static_cast<device::CUstream>(options.stream), slots,
                                              count);
  return run_on_host(variant, options, {slots, count}, positional, named);
}

// Interpreter and emulator check accesses if the size of the memory behind every pointer is known.
Status Kernel::run_on_host(const Variant& variant, const LaunchOptions& options,
                           std::span<const uint64_t> slots, std::span<const Arg> positional,
                           std::span<const NamedArg> named) const {
  const CompiledKernel& compiled = *variant.compiled;
  Launch launch{options.grid, slots};
  if (compiled.cpu) return compiled.cpu->run(launch, options.threads);
  std::vector<Arg> memory;
  for (size_t i = 0; i < positional.size() + named.size(); ++i)
    if (Arg arg = argument(positional, named, i); arg.kind == Arg::Kind::kPointer)
      memory.push_back(arg);
  bool all_known =
      std::all_of(memory.begin(), memory.end(), [](const Arg& arg) { return arg.bytes != 0; });
  std::function<bool(uint64_t, size_t, bool)> may_access;
  if (all_known)
    may_access = [memory = std::move(memory)](uint64_t address, size_t bytes, bool) {
      return std::any_of(memory.begin(), memory.end(), [&](const Arg& arg) {
        return address >= arg.bits && bytes <= arg.bytes && address - arg.bits <= arg.bytes - bytes;
      });
    };
  if (compiled.emulated) {
    cuda::EmulatorOptions emulator;
    emulator.may_access = std::move(may_access);
    return compiled.emulated->run(launch, emulator);
  }
  interp::Options interpreter;
  interpreter.may_access = std::move(may_access);
  interpreter.sources = &compiled.program->sources();
  return interp::run(*compiled.module, launch, interpreter);
}

}  // namespace tilewright::runtime
