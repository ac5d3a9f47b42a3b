// From the values of a call to a specialisation and argument slots, by Triton's rules:
// integers take i32, i64 or u64 by value, 1 becomes a constant, divisibility (by 2, 4, 8 and 16;
// Triton knows 16 alone) and 16-byte alignment of pointers are noted, floats are f32, booleans i1,
// None a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/frontend.h"
#include "runtime/include/tilewright/argument.hpp"

namespace tilewright::runtime {

// One value as a caller hands it over; no ownership.
using Arg = Argument;

// A value given by name: a constant for a constexpr parameter, or a run-time value. A name is
// borrowed for the call.
struct NamedArg {
  std::string_view name;
  // Exactly one is set: strings, dtypes, functions and tuples come as constants.
  Arg value;
  const frontend::Constant* constant = nullptr;
};

struct CallOptions {
  int num_warps = 0;   // 0: 4
  int num_stages = 0;  // 0: 3
  bool fp_fusion = true;
  bool debug = false;  // keep the kernel's assertions
  int maxnreg = 0;     // registers a thread may use at most on a GPU; 0: as many as there are
};

// How one run-time parameter of the specialised kernel is filled: from which argument, converted to
// which float type if any.
struct SlotPlan {
  uint16_t argument = 0;  // positional arguments first, then named ones
  bool is_float = false;
  bool is_bool = false;
  Dtype dtype{};
};

struct BoundCall {
  frontend::Specialization specialization;
  std::vector<SlotPlan> slots;  // in order of the kernel's run-time parameters
  std::vector<Arg> arguments;   // positional, then named (converted to Arg)
};

// Positional arguments fill, in order, the parameters that no named one fills; `num_warps` and
// `num_stages` may come by name. Heuristics of the kernel's decorators run here.
// Errors: `missing-argument`, `unknown-argument`, `bad-argument`, `bad-launch`; each shows the
// parameter, what it takes and what was given.
Result<BoundCall> bind_call(const frontend::Program& program, const frontend::KernelInfo& info,
                            std::span<const Arg> positional, std::span<const NamedArg> named,
                            const CallOptions& options);

// A constant as a run-time value: numbers, booleans and None are, other kinds are not.
std::optional<Arg> to_arg(const frontend::Constant& constant);
// The 64-bit image of an argument in the slot.
uint64_t slot_bits(const SlotPlan& plan, const Arg& arg);
// "an integer (12)", "a pointer to f32", …: for messages.
std::string describe(const Arg& arg);
// `add(x, y, n, BLOCK: constexpr)`.
std::string signature(const frontend::KernelInfo& info);

}  // namespace tilewright::runtime
