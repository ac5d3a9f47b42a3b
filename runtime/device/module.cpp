// Loaded cubins, streams, events and graphs.
#include <utility>

#include "runtime/device/device.h"

namespace tilewright::device {
namespace {

constexpr int kMaxDynamicSharedAttribute = 8;   // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kRegistersAttribute = 4;          // CU_FUNC_ATTRIBUTE_NUM_REGS
constexpr int kSharedWithoutOptIn = 48 * 1024;  // bytes any kernel may use without asking
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;  // other threads may go on allocating while we capture

Status make_current(const ContextScope& scope, const Driver& driver) {
  if (scope.result() != 0) return cuda_error(driver, "context_push", scope.result());
  return {};
}

}  // namespace

Result<std::unique_ptr<Module>> Module::load(const Driver& driver, CUcontext context,
                                             const std::string& cubin, const std::string& entry,
                                             int dynamic_shared_bytes) {
  ContextScope scope(driver, context);
  TW_TRY(make_current(scope, driver));
  std::unique_ptr<Module> module(new Module(driver, context));
  TW_CUDA(driver, module_load, &module->module_, cubin.data(), 0, nullptr, nullptr);
  TW_CUDA(driver, module_function, &module->function_, module->module_, entry.c_str());
  if (dynamic_shared_bytes > kSharedWithoutOptIn)
    TW_CUDA(driver, function_set, module->function_, kMaxDynamicSharedAttribute,
            dynamic_shared_bytes);
  // The driver loads code lazily; asking for an attribute makes it do so now, and not at the first
  // launch, which may be inside a capture.
  int registers = 0;
  TW_CUDA(driver, function_get, &registers, kRegistersAttribute, module->function_);
  return module;
}

Module::~Module() {
  ContextScope scope(driver_, context_);
  if (!module_ || scope.result() != 0) return;
  // A launch may still be running: its code must not go away under it.
  driver_.context_synchronize();
  driver_.module_unload(module_);
}

Result<Stream> Stream::create(const Gpu& gpu) {
  ContextScope scope(gpu.driver(), gpu.context());
  TW_TRY(make_current(scope, gpu.driver()));
  CUstream stream = nullptr;
  TW_CUDA(gpu.driver(), stream_create, &stream, kStreamNonBlocking);
  return Stream(gpu, stream);
}

Stream::Stream(Stream&& other) noexcept
    : gpu_(other.gpu_), stream_(std::exchange(other.stream_, nullptr)) {}

Stream::~Stream() {
  if (!stream_) return;
  ContextScope scope(gpu_->driver(), gpu_->context());
  gpu_->driver().stream_destroy(stream_);
}

Result<Event> Event::create(const Gpu& gpu) {
  ContextScope scope(gpu.driver(), gpu.context());
  TW_TRY(make_current(scope, gpu.driver()));
  CUevent event = nullptr;
  TW_CUDA(gpu.driver(), event_create, &event, 0u);
  return Event(gpu, event);
}

Event::Event(Event&& other) noexcept
    : gpu_(other.gpu_), event_(std::exchange(other.event_, nullptr)) {}

Event::~Event() {
  if (!event_) return;
  ContextScope scope(gpu_->driver(), gpu_->context());
  gpu_->driver().event_destroy(event_);
}

Status Event::record(CUstream stream) {
  ContextScope scope(gpu_->driver(), gpu_->context());
  TW_TRY(make_current(scope, gpu_->driver()));
  TW_CUDA(gpu_->driver(), event_record, event_, stream);
  return {};
}

Status Event::synchronize() {
  TW_CUDA(gpu_->driver(), event_synchronize, event_);
  return {};
}

Result<double> Event::milliseconds_since(const Event& start) const {
  float milliseconds = 0;
  TW_CUDA(gpu_->driver(), event_elapsed, &milliseconds, start.event_, event_);
  return static_cast<double>(milliseconds);
}

Result<Graph> Graph::capture(const Gpu& gpu, CUstream stream,
                             const std::function<Status()>& record) {
  const Driver& driver = gpu.driver();
  ContextScope scope(driver, gpu.context());
  TW_TRY(make_current(scope, driver));
  TW_CUDA(driver, stream_begin_capture, stream, kCaptureThreadLocal);
  Status recorded = record();
  CUgraph graph = nullptr;
  CUresult ended = driver.stream_end_capture(stream, &graph);
  if (!recorded) {
    if (graph) driver.graph_destroy(graph);
    return recorded.error();
  }
  if (ended != 0) return cuda_error(driver, "stream_end_capture", ended);
  CUgraphExec exec = nullptr;
  if (CUresult result = driver.graph_instantiate(&exec, graph, 0); result != 0) {
    driver.graph_destroy(graph);
    return cuda_error(driver, "graph_instantiate", result);
  }
  return Graph(gpu, graph, exec);
}

Graph::Graph(Graph&& other) noexcept
    : gpu_(other.gpu_),
      graph_(std::exchange(other.graph_, nullptr)),
      exec_(std::exchange(other.exec_, nullptr)) {}

Graph::~Graph() {
  if (!exec_) return;
  ContextScope scope(gpu_->driver(), gpu_->context());
  gpu_->driver().graph_exec_destroy(exec_);
  gpu_->driver().graph_destroy(graph_);
}

Status Graph::launch(CUstream stream) const {
  ContextScope scope(gpu_->driver(), gpu_->context());
  TW_TRY(make_current(scope, gpu_->driver()));
  TW_CUDA(gpu_->driver(), graph_launch, exec_, stream);
  return {};
}

}  // namespace tilewright::device
