// The layout assignment's state, shared by its parts:
//
//   assign_layouts.cpp   the order of things; how layouts spread from anchors
//   assign_anchors.cpp   where they come from: dots and memory ops
//   assign_rules.cpp     which layout an op needs its operands in; what an op's result gets
//   assign_rewrite.cpp   copies of flexible values, hoisted conversions, dead ops
//   assign_buffers.cpp   where tiles lie in the slots of buffers
//   assign_print.cpp     text
//
// Anchors fix layouts: a dot its accumulator, a load or store a coalesced one. From there layouts
// spread forward through element-wise ops and loop-carried values, a value of higher rank (see
// Rank) winning where two meet; values that still have none take what their users ask for. Flexible
// values (constants, ranges, broadcasts and cheap arithmetic on them: indices, masks, pointers)
// take no part: each user gets its own copy in the layout it wants, since computing them again is
// cheaper than moving them between threads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

// Whose layout wins where values meet: a dot's accumulator must not leave its layout inside a loop,
// and what comes from memory was loaded in a layout that suits the memory.
enum class Rank : uint8_t { kNone, kDefault, kAsked, kMemory, kDot };

struct ValueState {
  std::optional<layout::LinearLayout> layout;
  Rank rank = Rank::kNone;
  bool flexible = false;
  int depth = 0;  // of loops around the definition
};

// A loop-carried value or a result of `if`: members share a layout, sources flow into it.
struct Slot {
  std::vector<ir::ValueId> members, sources;
};

struct Assigner {
  ir::Module& module;
  const Target& target;
  LayoutAssignment result;
  std::vector<analysis::AxisInfo> axes;  // of the values before rewriting
  std::vector<ValueState> values;
  std::vector<Slot> slots;
  std::map<ir::OpId, int> depths;  // loops around each op
  std::vector<ir::OpId> order;     // all ops, outer before inner, as printed
  // The coalesced layout of memory ops, and the dimension their vectors run along.
  std::map<ir::OpId, layout::LinearLayout> coalesced;
  std::map<ir::OpId, int> vector_axis;
  // The dimensions of a memory op by the length of their runs of addresses, longest first.
  std::map<ir::OpId, std::vector<int>> access_orders;
  // Loads of vectors that are broadcast into larger tiles: they take the layout of their users.
  std::set<ir::OpId> broadcast_loads;
  // The layout the operands of a reduction or histogram take, decided once all values have theirs.
  std::map<ir::OpId, layout::LinearLayout> reductions;

  Assigner(ir::Module& m, const Target& t);

  bool is_tile(ir::ValueId value) const { return module.type(value).is_tile(); }
  ValueState& state(ir::ValueId value) { return values[value.index]; }
  // Sets a layout if its rank is above what the value has; true if so.
  bool raise(ir::ValueId value, const layout::LinearLayout& layout, Rank rank);
  layout::LinearLayout default_layout(const ir::Type& type) const;
};

// ---- anchors ----
// Fails with `out-of-resources` only where no plan exists; FMA always does.
void plan_dots(Assigner& assigner);
void plan_memory(Assigner& assigner);
// Decides in which layout stores and atomics run, once the values' layouts are known.
void settle_stores(Assigner& assigner);
// Fills LayoutAssignment::vectors and runs.
void find_vectors(Assigner& assigner);

// The pointers that a memory op reads, writes or copies from; -1 for other ops.
int pointer_operand(ir::Op op);

// ---- buffers ----
// True if a shared_load's tile is an operand of a dot, perhaps after element-wise and shape ops: it
// is read as often as it is asked for, in the layouts that are asked for.
bool feeds_dot(const ir::Module& module, ir::ValueId tile);
// True if a shared_load's vector is broadcast in a loop with dots (scales): read likewise.
bool is_broadcast_beside_dot(const ir::Module& module, ir::OpId shared_load);
// The layout of the copies (or of the value stored) into a shared_load's buffer, if it is known.
std::optional<layout::LinearLayout> writer_layout(Assigner& assigner, ir::OpId shared_load);
// Fills LayoutAssignment::buffers and lazy_loads, after rewriting.
void settle_buffers(Assigner& assigner);

// ---- rules ----
// The layout `op` needs operand `index` in. `layout_of` gives the layouts of values (null: not
// known); nullopt if the op takes any layout, or it follows from what is not known yet.
using LayoutOf = std::function<const layout::LinearLayout*(ir::ValueId)>;
std::optional<layout::LinearLayout> needed_layout(const ir::Module& module,
                                                  const LayoutAssignment& assignment,
                                                  const LayoutOf& layout_of, ir::OpId op,
                                                  int index);
// The layout a shape op or reduction gives its results, from its first operand's.
std::optional<layout::LinearLayout> followed_layout(const ir::Module& module, const ir::OpNode& op,
                                                    const layout::LinearLayout& operand);
// An op that is cheaper to compute again than to move between threads, if its operands are.
bool is_flexible_op(const ir::Module& module, const ir::OpNode& op);

// ---- rewriting ----
void rewrite_uses(Assigner& assigner);

}  // namespace tilewright::cuda
