#include "codegen/cuda/emit_buffers.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace tilewright::cuda {

using ir::Op;
using ir::OpId;
using ir::ValueId;

namespace {

bool only_renames(Op op) {
  return op == Op::Permute || op == Op::Reshape;
}

void number_ops(const ir::Module& module, ir::RegionId region, int& next,
                std::map<OpId, OpRange>& ranges) {
  for (OpId id : module.region(region).ops) {
    int first = next++;
    for (ir::RegionId nested : module.op(id).regions) number_ops(module, nested, next, ranges);
    ranges[id] = {first, next - 1};
  }
}

// The end of the outermost loop around `use` that does not also hold the allocation, or of `use`.
int end_of_use(const ir::Module& module, const std::map<OpId, OpRange>& ranges, OpId use,
               OpId allocation) {
  int first = ranges.at(allocation).first, end = ranges.at(use).last;
  for (OpId at = module.region(module.op(use).parent).parent; at.valid();
       at = module.region(module.op(at).parent).parent) {
    const OpRange& range = ranges.at(at);
    if (range.first < first) break;
    if (module.op(at).op == Op::For || module.op(at).op == Op::While) end = range.last;
  }
  return end;
}

}  // namespace

std::map<OpId, OpRange> op_ranges(const ir::Module& module) {
  std::map<OpId, OpRange> ranges;
  int next = 0;
  number_ops(module, module.body, next, ranges);
  return ranges;
}

std::map<ValueId, BufferPlace> place_buffers(const ir::Module& module,
                                             const LayoutAssignment& assignment,
                                             const std::map<OpId, OpRange>& ranges, int64_t begin) {
  std::map<ValueId, BufferPlace> places;
  std::vector<ValueId> order;
  std::map<ValueId, ValueId> holder;  // of a lazy tile, or a renaming of it: its buffer
  ir::walk(module, module.body, [&](OpId id) {
    const ir::OpNode& op = module.op(id);
    if (op.op == Op::SharedAlloc) {
      ValueId buffer = op.results[0];
      int first = ranges.at(id).first;
      places[buffer] = {{first, first},
                        begin,
                        assignment.buffers.at(buffer).bytes(),
                        module.type(buffer).shape[0]};
      order.push_back(buffer);
      holder[buffer] = buffer;
      return;
    }
    for (ValueId operand : op.operands) {
      auto found = holder.find(operand);
      if (found == holder.end()) continue;
      ValueId buffer = found->second;
      int& last = places.at(buffer).live.last;
      last = std::max(last, end_of_use(module, ranges, id, module.value(buffer).def));
      bool lazy = op.op == Op::SharedLoad && assignment.lazy_loads.contains(id);
      if (lazy || (operand != buffer && only_renames(op.op))) holder[op.results[0]] = buffer;
    }
  });
  std::vector<BufferPlace*> placed;
  for (ValueId buffer : order) {
    BufferPlace& place = places.at(buffer);
    std::vector<const BufferPlace*> meeting;
    for (const BufferPlace* other : placed)
      if (other->live.last >= place.live.first && other->live.first <= place.live.last)
        meeting.push_back(other);
    std::ranges::sort(meeting, {}, &BufferPlace::start);
    for (const BufferPlace* other : meeting)
      if (other->start < place.end() && place.start < other->end()) place.start = other->end();
    placed.push_back(&place);
  }
  return places;
}

bool is_lazy_load(const ir::Module& module, const std::map<OpId, DotPlan>& dots, ValueId tile) {
  bool lazy = true, used = false;
  Dtype dtype = module.type(tile).dtype;
  std::function<void(ValueId)> look = [&](ValueId value) {
    ir::walk(module, module.body, [&](OpId id) {
      const ir::OpNode& op = module.op(id);
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i] != value) continue;
        if (only_renames(op.op)) {
          look(op.results[0]);
          continue;
        }
        auto dot = dots.find(id);
        used = true;
        lazy = lazy && dot != dots.end() && i < 2 && dot->second.kind == DotPlan::Kind::kMma &&
               (i == 0 ? dot->second.unit.a : dot->second.unit.b) == dtype;
      }
    });
  };
  look(tile);
  return lazy && used;
}

bool is_private_buffer(const ir::Module& module, const LayoutAssignment& assignment,
                       const Target& target, ValueId buffer) {
  const layout::SharedLayout& shared = assignment.buffers.at(buffer);
  const layout::LinearLayout* copied = nullptr;
  bool is_private = target.has_cp_async;
  auto agree = [&](const layout::LinearLayout& layout) {
    if (copied == nullptr) copied = &layout;
    return *copied == layout;
  };
  ir::walk(module, module.body, [&](OpId id) {
    const ir::OpNode& op = module.op(id);
    if (op.operands.empty() || op.operands[0] != buffer) return;
    if (op.op == Op::CopyAsync) {
      const layout::LinearLayout& layout = assignment.memory.at(id);
      layout::SharedAccess access = layout::plan_access(shared, layout, false, {});
      int vector = std::min(assignment.vectors.at(id), layout.registers());
      is_private &= agree(layout) && access.copy_lanes == 0 && access.copy_warps == 0 &&
                    vector * module.type(buffer).element_bytes() >= 4;
    } else if (op.op == Op::SharedLoad) {
      is_private &=
          agree(assignment.values[op.results[0].index]) && !assignment.lazy_loads.contains(id);
    } else {
      is_private = false;
    }
  });
  return is_private;
}

namespace {

// Larger partial results are worth a second barrier.
constexpr int64_t kLargestPartials = 256;

bool is_in_loop(const ir::Module& module, OpId id) {
  for (OpId at = module.region(module.op(id).parent).parent; at.valid();
       at = module.region(module.op(at).parent).parent)
    if (module.op(at).op == Op::For || module.op(at).op == Op::While) return true;
  return false;
}

}  // namespace

int64_t partial_bytes(const ir::Module& module, const LayoutAssignment& assignment, OpId reduce) {
  const ir::OpNode& op = module.op(reduce);
  int axis = static_cast<int>(op.attrs.get_int("axis"));
  layout::LinearLayout source = required_layout(module, assignment, reduce, 0);
  size_t warp_bits = layout::plan_reduction(source, axis).warp_bits.size();
  if (warp_bits == 0) return 0;
  int64_t elements = layout::element_count(layout::drop_dim(source, axis).shape) << warp_bits;
  int64_t bytes = 0;
  for (ValueId operand : op.operands)
    bytes += (elements * module.type(operand).element_bytes() + 15) / 16 * 16;
  return bytes;
}

LoopPartials place_loop_partials(const ir::Module& module, const LayoutAssignment& assignment) {
  LoopPartials partials;
  ir::walk(module, module.body, [&](OpId id) {
    if (module.op(id).op != Op::Reduce || !is_in_loop(module, id)) return;
    int64_t bytes = partial_bytes(module, assignment, id);
    if (bytes == 0 || bytes > kLargestPartials) return;
    partials.places[id] = partials.end;
    partials.end += 2 * bytes;
  });
  partials.end = (partials.end + 127) / 128 * 128;
  return partials;
}

}  // namespace tilewright::cuda
