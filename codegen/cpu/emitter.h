// Tile IR -> LLVM IR text, for one kernel:
//
//   i64 @<name>(ptr args, ptr arena, i32 pid0, pid1, pid2, grid0, grid1, grid2)
//
// runs one program instance. `args` are 64-bit slots, `arena` holds the plan's buffers. The result
// is 0, or (index in failures() + 1) << 32 | element for the check that failed.
//
// Statements (stores, loops, what has a buffer) are emitted in program order by emit_<Op>; tile
// values are evaluated chunk by chunk by lanes(), inside the loops of the statements that need them
// (plan.h). Handlers are found through the op table; each family has a file.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/cpu/lanes.h"
#include "codegen/cpu/plan.h"
#include "codegen/cpu/text.h"
#include "codegen/ir/module.h"
#include "dsl/base/diagnostic.h"

namespace tilewright::cpu {

// A check in the kernel that can fail at run time.
struct Failure {
  DiagKind kind;
  std::string message;
  bool has_element = false;  // the low half of the code is the index of an element
  Span span;
  std::string mnemonic;
};

// Lanes of a chunk at most; LLVM splits what is wider than the machine's registers.
constexpr int kChunk = 16;
constexpr int kInnermost = -1;

class Emitter {
 public:
  Emitter(const ir::Module& module, int vector_bytes, const SourceMap* debug_sources);

  std::string run();
  const std::vector<Failure>& failures() const { return failures_; }
  int64_t arena_bytes() const { return plan_.arena_bytes; }
  std::string symbol() const;  // the function's name

  // ---- what handlers use ----
  const ir::Module& module;
  Text text;
  int vector_bytes;

  const ir::Type& type(ir::ValueId id) const { return module.type(id); }
  ir::OpId id_of(const ir::OpNode& op) const {
    return {static_cast<uint32_t>(&op - &module.op(ir::OpId{0}))};
  }
  const Plan& plan() const { return plan_; }
  void set_scalar(ir::ValueId id, std::string value) { scalars_[id.index] = std::move(value); }
  const std::string& scalar(ir::ValueId id) const;
  const std::string& program_id(int64_t axis) const;
  const std::string& num_programs(int64_t axis) const;

  void emit_region(ir::RegionId region);
  // Returns the failure's code if `condition` (an i1) holds; `element` is an i64 or empty.
  void fail_if(const std::string& condition, Failure failure, const std::string& element = {});
  void declare(const std::string& declaration);  // an external function or intrinsic
  // A helper function in LLVM IR, defined once per module.
  void define(const std::string& name, const std::string& text);

  // ---- evaluation (shape.cpp, elementwise.cpp) ----
  // The value at an index; buffered values are read, lazy ones computed.
  Lanes lanes(ir::ValueId id, const Index& index);
  // The same, computed although the value has a buffer: for filling that buffer.
  Lanes lanes_of_definition(ir::ValueId id, const Index& index);
  // The exact lanes as an LLVM value of `width` lanes.
  std::string vector(const Lanes& value, const ir::Type& type, int width);
  std::string splat(const std::string& value, std::string_view scalar_type, int width);
  std::string exact_vector(const ir::OpNode& op, const std::vector<Lanes>& operands, int width);
  // An element-wise op on lanes that are given.
  Lanes apply(const ir::OpNode& op, const std::vector<Lanes>& operands, int width);

  // ---- 64-bit index arithmetic, folded ----
  I64 add(const I64& a, const I64& b);
  I64 multiply(const I64& a, int64_t factor);
  I64 shift_right(const I64& a, int64_t divisor);  // by a power of two
  I64 low_bits(const I64& a, int64_t modulus);     // modulo a power of two

  // ---- loops (loops.cpp) ----
  struct Loop {
    I64 index;
    std::string header, latch, exit, next;
    int64_t step = 1, bound = 0;
  };
  // for (index = 0; index < bound; index += step); at least one iteration.
  Loop begin_loop(int64_t bound, int64_t step);
  void end_loop(const Loop& loop);
  // Calls body for chunks that cover the shape, `width` lanes at most. Lanes run along `lane_dim`,
  // or along the innermost dimension; then chunks come in row-major order.
  template <class Body>
  void for_chunks(const ir::Shape& shape, int width, Body body, int lane_dim = kInnermost) {
    Chunking chunking = begin_chunks(shape, width, lane_dim);
    body(chunking.index);
    end_chunks(chunking);
  }

  // ---- memory (memory.cpp, buffers.cpp) ----
  std::string buffer_address(int64_t offset);
  Lanes read_buffer(const std::string& address, const ir::Type& type, const Index& index);
  void write_buffer(const std::string& address, const ir::Type& type, const Index& index,
                    const Lanes& value);
  // From here on, the value is computed by its reader, or read from its buffer.
  void set_lazy(ir::ValueId id, bool lazy) {
    plan_.how[id.index] = lazy ? Plan::How::kLazy : Plan::How::kBuffer;
  }
  // Evaluates outside of a loop over chunks: nothing known before is used, nothing is kept.
  template <class Body>
  void with_fresh_values(Body body) {
    std::map<std::string, Lanes> outer;
    outer.swap(values_);
    body();
    values_.swap(outer);
  }
  // Evaluates the value everywhere into a buffer.
  void fill(const std::string& address, ir::ValueId value, bool definition);
  Lanes load_lanes(const ir::OpNode& op, const Index& index);
  std::string lane_of(const std::string& vector, const std::string& vector_type, int lane);
  // The dimension along which a tile of pointers, or what a lazy value loads, is contiguous in
  // memory, if that is not the innermost one.
  int lane_dim_of_pointers(ir::ValueId pointers) const;
  int lane_dim_of(ir::ValueId value) const;
  int lane_dim_of_definition(ir::ValueId value) const;
  const std::string& buffer_scope() const { return buffer_scope_; }
  const std::string& user_scope() const { return user_scope_; }

 private:
  struct Chunking {
    Index index;
    std::vector<Loop> loops;
    std::map<std::string, Lanes> outer_values;
  };
  Chunking begin_chunks(const ir::Shape& shape, int width, int lane_dim);
  void end_chunks(Chunking& chunking);

  void emit_op(const ir::OpNode& op);
  void emit_pure(const ir::OpNode& op);
  void load_arguments();
  std::string parameters() const;
  std::string function_attributes() const;
  std::string debug_text();
  std::string location_of(Span span);
  Lanes compute(const ir::OpNode& op, size_t result, const Index& index);
  Lanes compute_here(const ir::OpNode& op, size_t result, const Index& index);

  Plan plan_;
  std::vector<analysis::AxisInfo> axes_;
  std::vector<std::string> scalars_;
  // What has been evaluated in the chunk that is being emitted, by value and index.
  std::map<std::string, Lanes> values_;
  std::map<int64_t, std::string> addresses_;
  std::vector<Failure> failures_;
  std::vector<std::string> declarations_;
  std::map<std::string, std::string> definitions_;
  std::string buffer_scope_, user_scope_;
  const SourceMap* debug_sources_;
  std::map<std::pair<uint32_t, uint32_t>, int> locations_;  // line and column to metadata number
};

// ---- handlers: statements ----
#define TW_OP(name, ...) void emit_##name(Emitter& e, const ir::OpNode& op);
#define TW_EW_OP(name, ...)
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP

// ---- handlers: lanes of sources and shapes (shape.cpp) ----
Lanes shape_lanes(Emitter& e, const ir::OpNode& op, size_t result, const Index& index);

}  // namespace tilewright::cpu
