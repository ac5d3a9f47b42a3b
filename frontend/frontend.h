// From a parsed file to the tile IR of one kernel for one specialisation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/ir/module.h"
#include "dsl/ast.h"
#include "dsl/base/diagnostic.h"

namespace tilewright::frontend {

// A compile-time value that a caller binds to a constexpr parameter or to a free name of the
// kernel.
struct Constant {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kString, kDtype, kFunction, kTuple };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // kBool, kInt; kInt above int64 with is_unsigned
  bool is_unsigned = false;
  double number = 0;
  std::string text;  // kString; kFunction: name of a jit function of the program
  Dtype dtype{};
  std::vector<Constant> elements;

  static Constant none() { return {}; }
  static Constant boolean(bool value);
  static Constant integer_of(int64_t value);
  static Constant real(double value);
  static Constant string(std::string value);
  static Constant type(Dtype value);
  friend bool operator==(const Constant&, const Constant&) = default;
};
std::string to_string(const Constant& constant);  // 1024, 1.5, True, None, 'tf32', bf16, (1, 2)
// The command-line spelling of a constant: the above; a bare word that is no dtype is a string.
Result<Constant> parse_constant(std::string_view text);

// How one parameter is specialised.
struct Argument {
  std::string name;
  bool is_constant = false;
  Constant constant;  // is_constant: constexpr parameters, None pointers, integers equal to 1
  ir::Type type;      // else: scalar or pointer
  int64_t divisibility = 1;  // of an integer: its divisibility_class; of an address: 16 or 1
};

// Everything that, with the program, determines the IR. Arguments are in parameter order;
// parameters that are missing take their default value (a constant).
struct Specialization {
  std::vector<Argument> arguments;
  int num_warps = 4;
  int num_stages = 3;
  bool fp_fusion = true;  // contract a*b+c into fma (Triton's enable_fp_fusion)
  bool debug = false;     // keep assert ops
  int maxnreg = 0;        // registers a thread may use at most on a GPU; 0: as many as there are

  // Printable key: one line, equal iff the specialisations are equal.
  std::string key() const;
};

// Parses `x=*bf16:16`, `n=i32`, `n=i32:16`, `n=i32=1` (specialised to 1), as on the command line.
Result<Argument> parse_argument(std::string_view text);

// The largest of 16, 8, 4, 2 and 1 that divides an integer argument. Triton tells multiples of 16
// from all others; a matrix of 5000 16-bit columns has rows of 16-byte vectors all the same, and
// these classes show it.
int64_t divisibility_class(uint64_t value);

// One or more files and the values of free names. Owns the trees; cheap to share between threads
// once loaded (all members const after load).
class Program {
 public:
  // Parses `text` (named `path` in messages) as the program's main file. Diagnostics of several
  // errors come back in one ErrorInfo.
  static Result<std::shared_ptr<const Program>> load(
      std::string path, std::string text, std::map<std::string, Constant> environment = {});
  ~Program();

  const SourceMap& sources() const;
  const dsl::Ast& ast() const;
  // Names of the jit functions of the main file in order of definition.
  std::vector<std::string> functions() const;
  // The definition of a jit function, or null. Class-scoped ones are "Class.name".
  const dsl::Stmt* find(std::string_view name) const;
  const std::map<std::string, Constant>& environment() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  friend struct ProgramAccess;
};

// What a kernel's parameters look like, before any specialisation.
struct ParamInfo {
  std::string name;
  bool is_constexpr = false;
  std::optional<ir::Type> annotated_type;  // `x: tl.int64`, 'i32', '*fp16' …
  std::optional<Constant> default_value;
  bool specialize = true;            // false: do_not_specialize
  bool specialize_alignment = true;  // false: do_not_specialize_on_alignment
};

// A config from a @triton.autotune decorator.
struct DecoratorConfig {
  std::map<std::string, Constant> constants;
  int num_warps = 4;
  int num_stages = 3;
  std::optional<int> maxnreg;
};

struct KernelInfo {
  std::string name;
  std::vector<ParamInfo> params;
  std::vector<DecoratorConfig> configs;   // empty without @triton.autotune
  std::string configs_error;              // why its configs could not be evaluated, else empty
  std::vector<std::string> autotune_key;  // names of arguments
  std::vector<std::string> reset_to_zero, restore_value;
  // @triton.heuristics: constexpr parameter -> evaluated with evaluate_heuristics.
  std::vector<std::string> heuristics;
};
Result<KernelInfo> describe_kernel(const Program& program, std::string_view kernel);
// Runs the heuristics' lambdas, in order, over the bound arguments (integers, floats, constants).
Result<std::map<std::string, Constant>> evaluate_heuristics(
    const Program& program, std::string_view kernel, const std::map<std::string, Constant>& bound);

// Types, evaluates and lowers `kernel`. The module is verified but not optimised. Errors carry
// every diagnostic with carets in `details`, notes through helper calls included.
Result<ir::Module> lower(const Program& program, std::string_view kernel,
                         const Specialization& specialization);

// Resolves every name and builtin of every kernel without argument types (`tilewright check`).
// Diagnostics per kernel, in file order; an empty sink means ok.
struct CheckReport {
  std::string kernel;
  DiagSink sink;
};
std::vector<CheckReport> check(const Program& program);

}  // namespace tilewright::frontend
