// Kernels and helpers that the runtime's tests share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/compile/kernel.h"
#include "tests/unit/executor/fake_cuda/control.h"

namespace tilewright::runtime {

inline constexpr char kAdd[] = R"(
import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)";

inline std::shared_ptr<const frontend::Program> program_of(
    const std::string& text, std::map<std::string, frontend::Constant> environment = {}) {
  return frontend::Program::load("test.py", text, std::move(environment)).value();
}

inline std::shared_ptr<CompileService> memory_service() {
  return std::make_shared<CompileService>(cache::CacheOptions{});
}

inline std::shared_ptr<Kernel> kernel_on(
    std::string_view device, const std::string& text, const std::string& name,
    std::shared_ptr<CompileService> service = memory_service()) {
  return Kernel::create(program_of(text), name, std::move(service), Device::open(device).value())
      .value();
}

inline Arg pointer_to(const std::vector<float>& data) {
  return Arg::pointer(reinterpret_cast<uint64_t>(data.data()), Dtype::kF32, data.size() * 4);
}
inline NamedArg named(std::string_view name, int64_t value) {
  return {name, Arg::integer(value), nullptr};
}

// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tw-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tilewright::runtime
