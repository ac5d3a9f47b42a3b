// A stand-in for the CUDA driver: the entry points that the runtime uses, on host memory, with the
// driver's rules about contexts, streams and capture checked. It lets the whole launch path be
// tested without a GPU. Kernels do not run; launches are recorded.
//
// FAKE_CUDA_INIT is what cuInit returns, FAKE_CUDA_DEVICES the number of devices (2), FAKE_CUDA_SM
// their compute capability (90; a comma list gives each its own), FAKE_CUDA_MEMORY bytes a device,
// FAKE_CUDA_PAGEABLE whether they can access ordinary host memory (1).
#include "fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

enum Code {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kCaptureUnsupported = 900,
  kIllegalState = 901,
};

struct Context {
  int device;
};
struct Stream {
  Context* context;
  bool capturing = false;
  size_t captured = 0;
};
struct Module;
struct Function {
  Module* module;
  std::string name;
  int dynamic_shared = 48 * 1024;
};
struct Module {
  Context* context;
  std::vector<std::unique_ptr<Function>> functions;
};
struct Event {
  double time = 0;
  bool recorded = false;
};
struct Graph {
  size_t launches;
};

std::mutex mutex;
std::map<uint64_t, std::pair<size_t, int>> allocations;
std::map<int, size_t> allocated;
std::vector<FakeLaunch> launches;
int live_modules = 0, loads = 0, captures = 0, parameter_count = 0;
double now = 0;
thread_local std::vector<Context*> stack;

int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

int device_count() {
  return number("FAKE_CUDA_DEVICES", 2);
}

int capability(int device) {
  const char* text = std::getenv("FAKE_CUDA_SM");
  std::istringstream list(text ? text : "90");
  std::string one;
  for (int i = 0; i <= device && std::getline(list, one, ','); ++i) {
  }
  return std::atoi(one.c_str());
}

Context* primary(int device) {
  static Context contexts[16];
  contexts[device].device = device;
  return &contexts[device];
}

Context* current() {
  return stack.empty() ? nullptr : stack.back();
}

// Work goes to a stream of the current context; the special handles stand for its default streams.
int check_stream(void* stream) {
  if (!current()) return kInvalidContext;
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return kSuccess;
  return static_cast<Stream*>(stream)->context == current() ? kSuccess : kInvalidHandle;
}

bool any_capture() {
  return captures > 0;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

extern "C" __attribute__((visibility("default"))) void fake_cuda_reset() {
  std::lock_guard lock(mutex);
  launches.clear();
  loads = 0;
}
extern "C" __attribute__((visibility("default"))) void fake_cuda_set_parameters(int count) {
  parameter_count = count;
}
extern "C" __attribute__((visibility("default"))) void fake_cuda_state(FakeState* state) {
  std::lock_guard lock(mutex);
  state->launches = launches;
  state->loads = loads;
  state->live_modules = live_modules;
  state->live_allocations = static_cast<int>(allocations.size());
  state->context_depth = static_cast<int>(stack.size());
}
// A context of the user's own on a device, and a stream in it.
extern "C" __attribute__((visibility("default"))) void* fake_cuda_foreign_stream(
    int device, bool primary_context) {
  static auto& made = *new std::vector<Stream*>();  // the user's, for the life of the process
  auto* context = primary_context ? primary(device) : new Context{device};
  return made.emplace_back(new Stream{context});
}

FAKE cuInit(unsigned) {
  return number("FAKE_CUDA_INIT", 0);
}
FAKE cuDriverGetVersion(int* version) {
  return *version = 13000, kSuccess;
}
FAKE cuGetErrorName(int code, const char** name) {
  static std::map<int, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                             {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                             {200, "CUDA_ERROR_INVALID_IMAGE"},
                                             {500, "CUDA_ERROR_NOT_FOUND"},
                                             {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  auto it = names.find(code);
  *name = it == names.end() ? "CUDA_ERROR_OTHER" : it->second;
  return kSuccess;
}
FAKE cuGetErrorString(int, const char** text) {
  return *text = "as the fake driver says", kSuccess;
}
FAKE cuDeviceGetCount(int* count) {
  return *count = device_count(), kSuccess;
}
FAKE cuDeviceGet(int* device, int ordinal) {
  return ordinal < device_count() ? (*device = ordinal, kSuccess) : kInvalidDevice;
}
FAKE cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, ("Fake GPU " + std::to_string(device)).c_str(), static_cast<size_t>(size));
  return kSuccess;
}
FAKE cuDeviceGetAttribute(int* value, int attribute, int device) {
  static std::map<int, int> values = {{1, 1024}, {16, 132}, {38, 50 << 20}, {97, 232448}};
  if (attribute == 75) return *value = capability(device) / 10, kSuccess;
  if (attribute == 76) return *value = capability(device) % 10, kSuccess;
  if (attribute == 88) return *value = number("FAKE_CUDA_PAGEABLE", 1), kSuccess;
  auto it = values.find(attribute);
  if (it == values.end()) return kInvalidValue;
  return *value = it->second, kSuccess;
}
FAKE cuDeviceTotalMem_v2(size_t* bytes, int) {
  return *bytes = static_cast<size_t>(number("FAKE_CUDA_MEMORY", 1 << 20)), kSuccess;
}
FAKE cuDeviceGetPCIBusId(char* text, int size, int device) {
  std::strncpy(text, ("0000:0" + std::to_string(device) + ":00.0").c_str(),
               static_cast<size_t>(size));
  return kSuccess;
}
FAKE cuDevicePrimaryCtxRetain(void** context, int device) {
  return *context = primary(device), kSuccess;
}
FAKE cuCtxGetCurrent(void** context) {
  return *context = current(), kSuccess;
}
FAKE cuCtxPushCurrent_v2(void* context) {
  if (!context) return kInvalidContext;
  return stack.push_back(static_cast<Context*>(context)), kSuccess;
}
FAKE cuCtxPopCurrent_v2(void** context) {
  if (stack.empty()) return kInvalidContext;
  *context = stack.back();
  stack.pop_back();
  return kSuccess;
}
FAKE cuCtxGetDevice(int* device) {
  if (!current()) return kInvalidContext;
  return *device = current()->device, kSuccess;
}
FAKE cuCtxSynchronize() {
  return current() ? kSuccess : kInvalidContext;
}
FAKE cuMemGetInfo_v2(size_t* free, size_t* total) {
  if (!current()) return kInvalidContext;
  cuDeviceTotalMem_v2(total, current()->device);
  std::lock_guard lock(mutex);
  *free = *total - allocated[current()->device];
  return kSuccess;
}
FAKE cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (!current()) return kInvalidContext;
  if (any_capture()) return kCaptureUnsupported;
  size_t total = 0;
  cuDeviceTotalMem_v2(&total, 0);
  std::lock_guard lock(mutex);
  size_t& used = allocated[current()->device];
  if (used + bytes > total) return kOutOfMemory;
  used += bytes;
  *address = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocations[*address] = {bytes, current()->device};
  return kSuccess;
}
FAKE cuPointerGetAttribute(void* out, int attribute, uint64_t address) {
  if (attribute != 2) return kInvalidValue;
  std::lock_guard lock(mutex);
  for (auto& [begin, allocation] : allocations)
    if (address >= begin && address < begin + allocation.first)
      return *static_cast<unsigned*>(out) = 2, kSuccess;
  return kInvalidValue;
}
FAKE cuMemFree_v2(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = allocations.find(address);
  if (it == allocations.end()) return kInvalidValue;
  allocated[it->second.second] -= it->second.first;
  std::free(reinterpret_cast<void*>(address));
  allocations.erase(it);
  return kSuccess;
}
FAKE cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  if (int code = check_stream(stream)) return code;
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), kSuccess;
}
FAKE cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  if (int code = check_stream(stream)) return code;
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), kSuccess;
}
FAKE cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  if (int code = check_stream(stream)) return code;
  return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), kSuccess;
}
FAKE cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void* stream) {
  if (int code = check_stream(stream)) return code;
  return std::memset(reinterpret_cast<void*>(to), byte, bytes), kSuccess;
}
FAKE cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  if (!current()) return kInvalidContext;
  if (any_capture()) return kCaptureUnsupported;
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return kInvalidImage;
  std::lock_guard lock(mutex);
  ++live_modules;
  ++loads;
  return *module = new Module{current(), {}}, kSuccess;
}
FAKE cuModuleUnload(void* module) {
  std::lock_guard lock(mutex);
  --live_modules;
  delete static_cast<Module*>(module);
  return kSuccess;
}
FAKE cuModuleGetFunction(void** function, void* module, const char* name) {
  if (std::strcmp(name, "absent") == 0) return kNotFound;
  auto* owner = static_cast<Module*>(module);
  owner->functions.emplace_back(new Function{owner, name});
  return *function = owner->functions.back().get(), kSuccess;
}
FAKE cuFuncGetAttribute(int* value, int, void*) {
  return *value = 0, kSuccess;
}
FAKE cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || value > 232448) return kInvalidValue;
  return static_cast<Function*>(function)->dynamic_shared = value, kSuccess;
}
FAKE cuLaunchKernel(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                    unsigned bz, unsigned shared, void* stream, void** parameters, void** extra) {
  auto* function = static_cast<Function*>(handle);
  if (int code = check_stream(stream)) return code;
  if (function->module->context != current()) return kInvalidHandle;
  if (extra || by != 1 || bz != 1 || gx == 0 || gy == 0 || gz == 0) return kInvalidValue;
  if (static_cast<int>(shared) > function->dynamic_shared) return kInvalidValue;
  std::lock_guard lock(mutex);
  if (reinterpret_cast<uintptr_t>(stream) > 2 && static_cast<Stream*>(stream)->capturing)
    ++static_cast<Stream*>(stream)->captured;
  now += 1;
  FakeLaunch launch{function->name, {gx, gy, gz}, bx, shared, stream, current()->device, {}};
  for (int i = 0; i < parameter_count; ++i)
    launch.parameters.push_back(*static_cast<uint64_t*>(parameters[i]));
  launches.push_back(std::move(launch));
  return kSuccess;
}
FAKE cuStreamCreate(void** stream, unsigned) {
  if (!current()) return kInvalidContext;
  return *stream = new Stream{current()}, kSuccess;
}
FAKE cuStreamDestroy_v2(void* stream) {
  return delete static_cast<Stream*>(stream), kSuccess;
}
FAKE cuStreamSynchronize(void* stream) {
  return check_stream(stream);
}
FAKE cuStreamGetCtx(void* stream, void** context) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return kInvalidHandle;
  return *context = static_cast<Stream*>(stream)->context, kSuccess;
}
FAKE cuStreamBeginCapture_v2(void* stream, int) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return kIllegalState;
  static_cast<Stream*>(stream)->capturing = true;
  ++captures;
  return kSuccess;
}
FAKE cuStreamEndCapture(void* stream, void** graph) {
  auto* s = static_cast<Stream*>(stream);
  if (!s->capturing) return kIllegalState;
  s->capturing = false;
  --captures;
  return *graph = new Graph{std::exchange(s->captured, 0)}, kSuccess;
}
FAKE cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return *exec = new Graph(*static_cast<Graph*>(graph)), kSuccess;
}
FAKE cuGraphLaunch(void* exec, void* stream) {
  if (int code = check_stream(stream)) return code;
  now += static_cast<double>(static_cast<Graph*>(exec)->launches);
  return kSuccess;
}
FAKE cuGraphDestroy(void* graph) {
  return delete static_cast<Graph*>(graph), kSuccess;
}
FAKE cuGraphExecDestroy(void* exec) {
  return delete static_cast<Graph*>(exec), kSuccess;
}
FAKE cuEventCreate(void** event, unsigned) {
  return *event = new Event, kSuccess;
}
FAKE cuEventDestroy_v2(void* event) {
  return delete static_cast<Event*>(event), kSuccess;
}
FAKE cuEventRecord(void* event, void* stream) {
  if (int code = check_stream(stream)) return code;
  *static_cast<Event*>(event) = {now, true};
  return kSuccess;
}
FAKE cuEventSynchronize(void*) {
  return kSuccess;
}
FAKE cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  auto *a = static_cast<Event*>(start), *b = static_cast<Event*>(end);
  if (!a->recorded || !b->recorded) return kInvalidHandle;
  return *milliseconds = static_cast<float>(b->time - a->time), kSuccess;
}
