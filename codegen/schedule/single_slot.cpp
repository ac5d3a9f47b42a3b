#include "codegen/schedule/single_slot.h"

#include <algorithm>

#include "codegen/ir/builder.h"

namespace tilewright::schedule {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

int64_t copy_in_place(ir::Module& module, const LoopPlan& plan) {
  ir::Builder b(module);
  const RegionId body = module.op(plan.loop).regions[0], parent = module.op(plan.loop).parent;
  const RegionId before = module.add_region({});
  int64_t bytes = 0;
  std::vector<OpId> ops;
  std::vector<std::pair<ValueId, ValueId>> buffers;  // by the value that was loaded
  size_t copies = 0;
  for (const PlannedLoad& load : plan.loads) copies += load.how == LoadReport::How::kAsync;
  auto take = [&](RegionId made) {
    for (OpId id : module.region(made).ops) {
      module.op(id).parent = body;
      ops.push_back(id);
    }
    module.region(made).ops.clear();
  };
  const RegionId made = module.add_region({});
  for (OpId id : std::vector(module.region(body).ops)) {
    auto planned = std::ranges::find(plan.loads, id, &PlannedLoad::op);
    if (planned == plan.loads.end() || planned->how != LoadReport::How::kAsync) {
      ops.push_back(id);
      continue;
    }
    OpNode load = module.op(id);
    load.attrs.erase("volatile");
    const ValueId value = load.results[0];
    b.set_span(load.span);
    b.set_region(before);
    const ir::Type type = ir::Type::shared(1, module.type(value));
    bytes += type.element_count() * type.element_bytes();
    ValueId buffer = b.make_as(Op::SharedAlloc, type, {});
    module.value(buffer).name = module.value(value).name;
    b.set_region(made);
    if (buffers.empty()) b.make_op(Op::Barrier, {}, {}, {});
    std::vector<ValueId> operands = {buffer, b.constant_int(ir::Type::scalar(Dtype::kI32), 0),
                                     load.operands[0]};
    if (load.operands.size() > 1) operands.push_back(load.operands[1]);
    b.make_op(Op::CopyAsync, operands, load.attrs, {});
    buffers.emplace_back(value, buffer);
    if (buffers.size() == copies) {
      b.make_op(Op::CopyCommit, {}, {}, {});
      b.make_op(Op::CopyWait, {}, {{"pending", int64_t{0}}}, {});
      for (auto [loaded, from] : buffers) {
        ValueId zero = b.constant_int(ir::Type::scalar(Dtype::kI32), 0);
        ValueId tile = b.make(Op::SharedLoad, {from, zero});
        module.value(tile).name = module.value(loaded).name;
        module.replace_uses(loaded, tile);
      }
    }
    take(made);
    module.op(id).parent = {};
  }
  module.region(body).ops = std::move(ops);

  // Behind the loop the slots are scratch.
  b.set_region(made);
  b.make_op(Op::Barrier, {}, {}, {});
  std::vector<OpId> around;
  auto move = [&](RegionId from) {
    for (OpId id : module.region(from).ops) {
      module.op(id).parent = parent;
      around.push_back(id);
    }
    module.region(from).ops.clear();
  };
  for (OpId id : std::vector(module.region(parent).ops)) {
    if (id == plan.loop) move(before);
    around.push_back(id);
    if (id == plan.loop) move(made);
  }
  module.region(parent).ops = std::move(around);
  return bytes;
}

}  // namespace tilewright::schedule
