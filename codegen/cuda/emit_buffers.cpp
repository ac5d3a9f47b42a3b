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
                                             const std::map<OpId, OpRange>& ranges) {
  std::map<ValueId, BufferPlace> places;
  std::vector<ValueId> order;
  std::map<ValueId, ValueId> holder;  // of a lazy tile, or a renaming of it: its buffer
  ir::walk(module, module.body, [&](OpId id) {
    const ir::OpNode& op = module.op(id);
    if (op.op == Op::SharedAlloc) {
      ValueId buffer = op.results[0];
      int first = ranges.at(id).first;
      places[buffer] = {
          {first, first}, 0, assignment.buffers.at(buffer).bytes(), module.type(buffer).shape[0]};
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

}  // namespace tilewright::cuda
