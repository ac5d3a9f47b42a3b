// Loads the stand-in driver for this process and talks to it. Include in one test program's files;
// the driver is chosen before the first test runs.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

#include "tests/unit/executor/fake_cuda/fake_cuda.h"

namespace tilewright::fake {

inline void* library() {
  static void* const handle = [] {
    setenv("TILEWRIGHT_CUDA_DRIVER", TILEWRIGHT_FAKE_CUDA, 1);
    return dlopen(TILEWRIGHT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  }();
  return handle;
}

template <class Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library(), name));
}

inline FakeState state() {
  FakeState state;
  symbol<void(FakeState*)>("fake_cuda_state")(&state);
  return state;
}
inline void reset(int parameters) {
  symbol<void()>("fake_cuda_reset")();
  symbol<void(int)>("fake_cuda_set_parameters")(parameters);
}
// A stream that the "user" made: in the primary context of a device, or in one of their own.
inline void* foreign_stream(int device, bool primary_context) {
  return symbol<void*(int, bool)>("fake_cuda_foreign_stream")(device, primary_context);
}

inline const bool chosen = library() != nullptr;

}  // namespace tilewright::fake
