// A cubin that is loaded into the contexts it is launched in, once each.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "runtime/device/device.h"

namespace tilewright::launch {

class Function {
 public:
  Function(std::string cubin, std::string entry, int threads, int dynamic_shared_bytes);
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const std::string& cubin() const { return cubin_; }

  // Loads into the context unless it is there already. Not allowed while a stream of the context is
  // being captured; launches after it are.
  Status prepare(const device::Driver& driver, device::CUcontext context) const;
  // Puts one launch on a stream of the context. `slots[i]` holds the image of parameter i in its
  // low bytes. Takes no lock and allocates nothing once loaded.
  Status launch(const device::Driver& driver, device::CUcontext context,
                std::array<uint32_t, 3> grid, device::CUstream stream, uint64_t* slots,
                size_t count) const;

  static constexpr size_t kMaxParameters = 128;

 private:
  struct Loaded;
  Result<device::CUfunction> function_in(const device::Driver& driver,
                                         device::CUcontext context) const;

  std::string cubin_, entry_;
  unsigned threads_, shared_bytes_;
  mutable std::atomic<const Loaded*> loaded_{
      nullptr};  // one node a context; a list that only grows
  mutable std::mutex load_mutex_;
};

}  // namespace tilewright::launch
