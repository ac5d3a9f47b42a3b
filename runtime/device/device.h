// CUDA devices: what they are, their memory, streams, events, graphs, modules and launches.
// Everything works in a device's primary context, which other users of the driver in the process
// (the CUDA runtime, PyTorch) share, or in the context of a stream they hand over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/driver.h"

namespace tilewright::device {

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  int max_shared_per_block = 0;  // bytes, opt-in
  int max_threads_per_block = 0;
  int l2_bytes = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;  // 0 where the driver does not say
  uint64_t memory_bytes = 0;
  std::string pci;  // "0000:65:00.0"
  int driver_version = 0;
};

// The devices that the driver shows (CUDA_VISIBLE_DEVICES applies). Errors: `no-driver`,
// `no-device` when the driver finds none.
Result<std::vector<DeviceInfo>> list_devices();

// A device and its retained primary context. Objects live until the process ends, so plain pointers
// to them may be kept. All members are safe to call from several threads.
class Gpu {
 public:
  // `no-device` for an ordinal that does not exist (the message says how many there are).
  static Result<Gpu*> open(int ordinal);
  // The device of a context, for streams that came from elsewhere.
  static Result<Gpu*> of_context(CUcontext context);

  const DeviceInfo& info() const { return info_; }
  CUcontext context() const { return context_; }
  const Driver& driver() const { return *driver_; }

  // False for an address of ordinary host memory on a device that cannot follow it there.
  bool can_access(uint64_t address) const;
  // `out-of-memory` says how much was asked and how much is free.
  Result<uint64_t> allocate(size_t bytes) const;
  void free(uint64_t address) const;
  // Ordered on `stream`; copies from and to pageable host memory have been read or written when the
  // call returns only after synchronize().
  Status upload(uint64_t to, const void* from, size_t bytes, CUstream stream = nullptr) const;
  Status download(void* to, uint64_t from, size_t bytes, CUstream stream = nullptr) const;
  Status copy(uint64_t to, uint64_t from, size_t bytes, CUstream stream = nullptr) const;
  Status fill(uint64_t to, uint8_t byte, size_t bytes, CUstream stream = nullptr) const;
  // Waits for the stream, or for the whole context when null. Reports errors of kernels.
  Status synchronize(CUstream stream = nullptr) const;

 private:
  Gpu(const Driver& driver, CUdevice device, CUcontext context, DeviceInfo info)
      : driver_(&driver), device_(device), context_(context), info_(std::move(info)) {}

  const Driver* driver_;
  CUdevice device_;
  CUcontext context_;
  DeviceInfo info_;
};

// Makes a context current for a scope; costs a few nanoseconds when it already is.
class ContextScope {
 public:
  ContextScope(const Driver& driver, CUcontext context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  // The failure to make the context current, 0 if none.
  CUresult result() const { return result_; }

 private:
  const Driver& driver_;
  bool pushed_ = false;
  CUresult result_ = 0;
};

// Null and the two special handles (legacy and per-thread default stream) belong to no context.
inline bool is_default_stream(CUstream stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

// A cubin loaded into one context.
class Module {
 public:
  // Loads the cubin into `context` and finds `entry`, which may use `dynamic_shared_bytes`.
  static Result<std::unique_ptr<Module>> load(const Driver& driver, CUcontext context,
                                              const std::string& cubin, const std::string& entry,
                                              int dynamic_shared_bytes);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUfunction function() const { return function_; }

 private:
  Module(const Driver& driver, CUcontext context) : driver_(driver), context_(context) {}

  const Driver& driver_;
  CUcontext context_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

// A stream of our own (non-blocking towards the legacy default stream).
class Stream {
 public:
  static Result<Stream> create(const Gpu& gpu);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  CUstream get() const { return stream_; }

 private:
  Stream(const Gpu& gpu, CUstream stream) : gpu_(&gpu), stream_(stream) {}
  const Gpu* gpu_;
  CUstream stream_;
};

class Event {
 public:
  static Result<Event> create(const Gpu& gpu);
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();
  Status record(CUstream stream);
  Status synchronize();
  // From `start` to this one; both must have been reached.
  Result<double> milliseconds_since(const Event& start) const;

 private:
  Event(const Gpu& gpu, CUevent event) : gpu_(&gpu), event_(event) {}
  const Gpu* gpu_;
  CUevent event_;
};

// Work recorded from a stream, to be launched again as one unit.
class Graph {
 public:
  // Captures what `record` puts on `stream` (not the legacy default stream). Nothing runs. An error
  // of `record` is passed on after the capture has been ended.
  static Result<Graph> capture(const Gpu& gpu, CUstream stream,
                               const std::function<Status()>& record);
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&&) = delete;
  ~Graph();
  Status launch(CUstream stream) const;

 private:
  Graph(const Gpu& gpu, CUgraph graph, CUgraphExec exec) : gpu_(&gpu), graph_(graph), exec_(exec) {}
  const Gpu* gpu_;
  CUgraph graph_;
  CUgraphExec exec_;
};

}  // namespace tilewright::device
