#include "runtime/launch/function.h"

#include "dsl/base/check.h"

namespace tilewright::launch {

struct Function::Loaded {
  device::CUcontext context;
  std::unique_ptr<device::Module> module;
  const Loaded* next;
};

Function::Function(std::string cubin, std::string entry, int threads, int dynamic_shared_bytes)
    : cubin_(std::move(cubin)),
      entry_(std::move(entry)),
      threads_(static_cast<unsigned>(threads)),
      shared_bytes_(static_cast<unsigned>(dynamic_shared_bytes)) {}

Function::~Function() {
  for (const Loaded* node = loaded_.load(); node;) delete std::exchange(node, node->next);
}

Result<device::CUfunction> Function::function_in(const device::Driver& driver,
                                                 device::CUcontext context) const {
  for (const Loaded* node = loaded_.load(std::memory_order_acquire); node; node = node->next)
    if (node->context == context) return node->module->function();
  std::lock_guard lock(load_mutex_);
  for (const Loaded* node = loaded_.load(std::memory_order_acquire); node; node = node->next)
    if (node->context == context) return node->module->function();
  TW_ASSIGN(auto module,
            device::Module::load(driver, context, cubin_, entry_, static_cast<int>(shared_bytes_)));
  device::CUfunction function = module->function();
  loaded_.store(new Loaded{context, std::move(module), loaded_.load()}, std::memory_order_release);
  return function;
}

Status Function::prepare(const device::Driver& driver, device::CUcontext context) const {
  auto function = function_in(driver, context);
  if (!function) return function.error();
  return {};
}

Status Function::launch(const device::Driver& driver, device::CUcontext context,
                        std::array<uint32_t, 3> grid, device::CUstream stream, uint64_t* slots,
                        size_t count) const {
  TW_CHECK(count <= kMaxParameters, "too many kernel parameters");
  TW_ASSIGN(device::CUfunction function, function_in(driver, context));
  device::ContextScope scope(driver, context);
  if (scope.result() != 0) return device::cuda_error(driver, "context_push", scope.result());
  void* pointers[kMaxParameters];
  for (size_t i = 0; i < count; ++i) pointers[i] = &slots[i];
  TW_CUDA(driver, launch, function, grid[0], grid[1], grid[2], threads_, 1, 1, shared_bytes_,
          stream, pointers, nullptr);
  return {};
}

}  // namespace tilewright::launch
