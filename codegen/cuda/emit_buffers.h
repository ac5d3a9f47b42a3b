// Where the buffers of scheduled IR lie in the program's shared memory: each from its allocation to
// its last use, so that buffers which are not live together share memory. A use inside a loop that
// the buffer was made before counts as the whole loop; the uses of a tile that is read lazily (a
// shared_load that only dots use) are uses of its buffer.
#pragma once

#include <map>

#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

// Ops in the order of the text: an op comes before those of its regions, and its range covers them.
struct OpRange {
  int first = 0, last = 0;
};
std::map<ir::OpId, OpRange> op_ranges(const ir::Module& module);

struct BufferPlace {
  OpRange live;
  int64_t start = 0, slot_bytes = 0, slots = 1;
  int64_t end() const { return start + slots * slot_bytes; }
};
// From byte `begin` on.
std::map<ir::ValueId, BufferPlace> place_buffers(const ir::Module& module,
                                                 const LayoutAssignment& assignment,
                                                 const std::map<ir::OpId, OpRange>& ranges,
                                                 int64_t begin);
// A copy_wait needs no barrier if every thread reads from the slots only what it has copied there
// itself: all loads of the buffer are made in the layout of its copies, which no two threads share.
bool is_private_buffer(const ir::Module& module, const LayoutAssignment& assignment,
                       const Target& target, ir::ValueId buffer);

// Reductions across warps that run again and again, in a loop: where the partial results of each
// lie. Nothing else lies there, and there is room for two: executions take turns, so that the
// barrier between writing and reading is the only one. Large ones are not among them.
struct LoopPartials {
  std::map<ir::OpId, int64_t> places;
  int64_t end = 0;  // a multiple of 128
};
LoopPartials place_loop_partials(const ir::Module& module, const LayoutAssignment& assignment);
// Bytes of one set of partial results.
int64_t partial_bytes(const ir::Module& module, const LayoutAssignment& assignment,
                      ir::OpId reduce);

// True if a shared_load's tile never needs registers of its own: all its uses, through permute and
// reshape, are operands of mma dots that multiply elements of its type.
bool is_lazy_load(const ir::Module& module, const std::map<ir::OpId, DotPlan>& dots,
                  ir::ValueId tile);

}  // namespace tilewright::cuda
