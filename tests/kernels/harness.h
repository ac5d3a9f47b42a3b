// Kernel tests: one problem a line (problems/*.txt), run on every executor and compared with a
// reference in double. A failure prints one line that runs it alone.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target/target.h"
#include "dsl/base/result.h"
#include "frontend/frontend.h"
#include "tests/kernels/buffer.h"

namespace tilewright::kernel_tests {

// "matmul f16 m=100 n=96 … warps=4": an operator, a dtype, and named numbers or words.
struct Problem {
  std::string line;
  std::string op;
  Dtype dtype{};
  std::map<std::string, std::string, std::less<>> options;

  int64_t get(std::string_view key, int64_t otherwise) const;
  std::string word(std::string_view key, std::string_view otherwise) const;
};
Result<Problem> parse_problem(std::string_view line);
// "op {f16,bf16} m={1,70}" stands for every choice: the lines without braces.
std::vector<std::string> expand_line(const std::string& line);

struct LaunchArgument {
  std::string name;
  enum class Kind { kBuffer, kInt, kFloat, kNone } kind = Kind::kNone;
  Buffer* buffer = nullptr;
  int64_t integer = 0;
  double number = 0;
};
LaunchArgument arg(std::string name, Buffer& buffer);
LaunchArgument arg(std::string name, int64_t value);
LaunchArgument arg(std::string name, double value);
LaunchArgument none(std::string name);

struct LaunchSpec {
  std::string file;  // below kernels_lib/, e.g. "matmul/kernel.py"
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::vector<LaunchArgument> arguments = {};
  std::map<std::string, frontend::Constant> constants = {};
  int num_warps = 4;
  int num_stages = 3;
};

// Runs a kernel on host buffers; a GPU executor copies them there and back.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string name() const = 0;
  virtual bool runs() const {
    return true;
  }  // false: launches are built only, there are no results
  virtual Status launch(const LaunchSpec& spec) = 0;
  // Between collect(true) and collect(false) launches are only noted, and runs() is false; the end
  // builds them all at once. False: the executor has no use for it.
  virtual bool collect(bool /*start*/) { return false; }
  // After the last problem: what is only known then.
  virtual Status finish() { return {}; }
};
// interp, cpu, emulated[:sm_NN], build[:sm_NN] (cubins only, nothing runs), mutants[:sm_NN]
// (emulated, with mistakes that must be caught), or any device of the runtime, whose whole path
// from binding to launch is then under test: cuda[:N], runtime:cpu, runtime:interp …
Result<std::unique_ptr<Executor>> make_executor(std::string_view device);
Result<std::unique_ptr<Executor>> make_runtime_executor(std::string_view device);
std::unique_ptr<Executor> make_mutants_executor(const Target& target);
Result<std::shared_ptr<const frontend::Program>> load_program(const std::string& file);

// The specialisation Triton would choose for these arguments: 1 becomes a constant, integers and
// addresses divisible by 16 are marked.
Result<frontend::Specialization> specialize(const LaunchSpec& spec);
// The module after the target-independent passes.
Result<ir::Module> lower(const LaunchSpec& spec);
// Equal for launches whose modules are equal.
Result<std::string> key_of(const LaunchSpec& spec);

// Argument slots of the run-time parameters, in order.
Result<std::vector<uint64_t>> pack(const LaunchSpec& spec, const ir::Module& module);
// Whether a launch may touch these bytes: those of its buffers.
std::function<bool(uint64_t address, size_t bytes, bool is_write)> access_check(
    const LaunchSpec& spec);

// What came out wrong, or empty (always for an executor that runs nothing). `bound(i)` is the
// largest allowed absolute error of element i.
std::string compare(const Executor& executor, const Buffer& actual,
                    const std::vector<double>& expected,
                    const std::function<double(int64_t)>& bound, std::string_view what);
// Relative precision of one rounding to the type (2^-fraction bits - 1), 0 for integers.
double epsilon(Dtype dtype);

// One operator: fills inputs from the problem's seed, launches, compares. Empty when right.
using OpTest = std::string (*)(const Problem& problem, Executor& executor);
std::string test_vector_add(const Problem&, Executor&);
std::string test_softmax(const Problem&, Executor&);
std::string test_matmul(const Problem&, Executor&);
std::string test_layer_norm(const Problem&, Executor&);
std::string test_dropout(const Problem&, Executor&);
std::string test_attention(const Problem&, Executor&);
std::string test_conv2d(const Problem&, Executor&);
std::string test_matmul_int4(const Problem&, Executor&);
std::string test_matmul_int8(const Problem&, Executor&);
std::string test_matmul_sparse(const Problem&, Executor&);
std::string test_matmul_scaled(const Problem&, Executor&);
std::string test_matmul_split_k(const Problem&, Executor&);
std::string test_matmul_stream_k(const Problem&, Executor&);
std::string test_rms_norm(const Problem&, Executor&);
std::string test_cross_entropy(const Problem&, Executor&);
std::string test_softmax_wide(const Problem&, Executor&);
std::string test_transpose(const Problem&, Executor&);
std::string test_gelu(const Problem&, Executor&);
std::string test_silu_mul(const Problem&, Executor&);
std::string test_cumsum(const Problem&, Executor&);
std::string test_linear_recurrence(const Problem&, Executor&);
std::string test_sort(const Problem&, Executor&);
std::string test_topk(const Problem&, Executor&);
std::string test_gather(const Problem&, Executor&);
std::string test_histogram(const Problem&, Executor&);

}  // namespace tilewright::kernel_tests
