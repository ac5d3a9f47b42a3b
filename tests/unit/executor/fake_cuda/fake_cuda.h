// What the stand-in driver tells tests, through symbols they look up in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct FakeLaunch {
  std::string function;
  std::array<unsigned, 3> grid;
  unsigned threads, shared_bytes;
  void* stream;
  int device;
  std::vector<uint64_t> parameters;
};

struct FakeState {
  std::vector<FakeLaunch> launches;
  int loads = 0, live_modules = 0, live_allocations = 0;
  int context_depth = 0;  // of the calling thread
};
