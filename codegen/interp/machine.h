// The state of one interpreter run, and the handlers that act on it: one function an op, declared
// from the op table, so that an op without a meaning is a link error that names it.
//
// A value is a row-major list of 64-bit element images: integers zero-extended from their width,
// floats by their bits, pointers as addresses, i1 as 0 or 1; a scalar is a list of one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "codegen/interp/interp.h"
#include "codegen/ir/module.h"
#include "dsl/base/numeric.h"

namespace tilewright::interp {

using Tile = std::vector<uint64_t>;

// One slot of a shared buffer, between what its writes started and what a barrier finished.
struct SharedSlot {
  enum class State : uint8_t { kEmpty, kCopied, kStored, kReady } state = State::kEmpty;
  bool is_read = false;  // since the last barrier
  Tile tile;
};

// A copy that has not landed: what copy_async was given. An empty mask is all true.
struct SharedCopy {
  const ir::OpNode* op = nullptr;
  ir::ValueId buffer;
  size_t slot = 0;
  Tile addresses, mask;
};

// Shared memory of one program instance.
struct SharedMemory {
  std::map<ir::ValueId, std::vector<SharedSlot>> buffers;
  std::vector<SharedCopy> open;  // since the last copy_commit
  std::deque<std::vector<SharedCopy>> groups;
};

class Machine {
 public:
  Machine(const ir::Module& module, const Launch& launch, const Options& options);

  Status run_program(std::array<uint32_t, 3> program);
  // Binds `args` to the region's arguments, runs its ops, and gives the values its terminator
  // passed on. For the first region of `while`, `condition` says which way it went.
  Status run_region(ir::RegionId region, std::vector<Tile> args);
  std::vector<Tile> take_passed() { return std::move(passed_); }

  const ir::Module& module() const { return module_; }
  const ir::Type& type(ir::ValueId id) const { return module_.type(id); }
  const Tile& get(ir::ValueId id) const { return values_[id.index]; }
  uint64_t scalar(ir::ValueId id) const { return values_[id.index][0]; }
  void set(ir::ValueId id, Tile tile);
  void set_result(const ir::OpNode& op, Tile tile) { set(op.results[0], std::move(tile)); }
  // Written by the terminators.
  void pass(const ir::OpNode& op, size_t first_operand);
  bool condition = false;
  SharedMemory shared;

  uint32_t program(int axis) const { return program_[static_cast<size_t>(axis)]; }
  uint32_t grid(int axis) const { return launch_.grid[static_cast<size_t>(axis)]; }

  // Memory, little-endian, after asking may_access. i1 is one byte: read as `!= 0`.
  Status read(const ir::OpNode& op, uint64_t address, Dtype dtype, uint64_t& bits);
  Status write(const ir::OpNode& op, uint64_t address, Dtype dtype, uint64_t bits);

  // An error at an op: the message, the program instance, and where in the source it happened.
  ErrorInfo fail(const ir::OpNode& op, DiagKind kind, const std::string& message) const;

 private:
  Status check_access(const ir::OpNode& op, uint64_t address, size_t bytes, bool is_write) const;

  const ir::Module& module_;
  const Launch& launch_;
  const Options& options_;
  std::array<uint32_t, 3> program_{};
  std::vector<Tile> values_;  // by value id
  std::vector<Tile> passed_;
  uint64_t executed_ = 0;
};

// What an element-wise function may depend on besides its operands: element types, and attributes
// decoded once an op instead of once an element.
struct Element {
  Dtype type{};    // of the first operand; of the value operands for select
  Dtype second{};  // of the last operand (ptr_add: the offset)
  Dtype result{};
  bool from_pointer = false, to_pointer = false;
  enum class Predicate : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe } predicate = Predicate::kEq;
  bool propagate_nan = false;
  Rounding rounding = Rounding::kNearestEven;
};

using Handler = Status (*)(Machine&, const ir::OpNode&);
using ElementHandler = uint64_t (*)(const Element&, const uint64_t* operands);

#define TW_OP(name, ...) Status run_##name(Machine& machine, const ir::OpNode& op);
#define TW_EW_OP(name, ...) uint64_t eval_##name(const Element& e, const uint64_t* x);
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP

// What a barrier does for shared buffers: reads before it are done, stores are visible.
void meet_at_barrier(Machine& machine);
// Lands all but the newest `pending` groups of copies.
Status finish_copies(Machine& machine, size_t pending);
// Applies an element-wise function to each element of the operands.
Status run_elementwise(Machine& machine, const ir::OpNode& op, ElementHandler function);

// Row-major strides of a shape, and the flat index of multi-dimensional indices and back.
std::vector<int64_t> strides_of(const ir::Shape& shape);
std::vector<int64_t> unflatten(int64_t flat, const ir::Shape& shape);
int64_t flatten(const std::vector<int64_t>& index, const ir::Shape& shape);

}  // namespace tilewright::interp
