#include "codegen/cuda/emit_rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/cuda/emit_ops.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// The only one of its kind in the loop's body; invalid if there is none or there are several.
OpId only_op(const ir::Module& module, const ir::Region& body, Op op) {
  OpId found;
  for (OpId id : body.ops) {
    if (module.op(id).op != op) continue;
    if (found.valid()) return {};
    found = id;
  }
  return found;
}

// What may stand in the body besides the wait and dots: nothing else that meets other threads.
bool may_stand(const ir::Module& module, OpId id, bool nested) {
  const OpNode& op = module.op(id);
  switch (op.op) {
    case Op::CopyAsync:
    case Op::Load:
    case Op::Yield:
      return true;
    case Op::CopyCommit:
      return !nested;
    case Op::SharedLoad:
    case Op::SharedStore:
      return !nested;
    case Op::If:
      for (ir::RegionId region : op.regions)
        for (OpId inner : module.region(region).ops)
          if (!may_stand(module, inner, true)) return false;
      return true;
    default:
      return ir::op_info(op.op).has(ir::kPure);  // reductions too: they wait for all threads
  }
}

// The carried value that a shared_load of the body takes its slot from.
std::optional<size_t> carried_slot(const ir::Module& module, const ir::Region& body, OpId load) {
  ValueId slot = module.op(load).operands[1];
  for (size_t i = 1; i < body.args.size(); ++i)
    if (body.args[i] == slot) return i - 1;
  return std::nullopt;
}

// Goes from an operand of the dot through renamings to a lazy shared_load of the body, adding all
// of them to `chain`; true if there is one, or if the operand is ready before the loop.
bool trace_operand(const Emitter& e, const Rotation& rotation, int index,
                   std::vector<OpId>& chain) {
  const ir::Module& module = e.module;
  ir::RegionId body = module.op(rotation.loop).regions[0];
  ValueId value = module.op(rotation.dot).operands[static_cast<size_t>(index)];
  auto inside = [&](ValueId v) {
    OpId def = module.value(v).def;
    return def.valid() && module.op(def).parent == body;
  };
  if (!inside(value)) {
    bool is_arg = std::ranges::count(module.region(body).args, value) > 0;
    return !is_arg &&
           e.layout_of(value) == required_layout(module, e.assignment, rotation.dot, index);
  }
  while (inside(value)) {
    OpId def = module.value(value).def;
    const OpNode& op = module.op(def);
    chain.insert(chain.begin(), def);
    if (op.op == Op::SharedLoad)
      return e.assignment.lazy_loads.contains(def) &&
             carried_slot(module, module.region(body), def).has_value();
    if (op.op != Op::Permute && op.op != Op::Reshape) return false;
    value = op.operands[0];
  }
  return false;
}

bool uses_one_of(const ir::Module& module, OpId id, const std::set<ValueId>& values) {
  auto uses = [&](OpId user) {
    return std::ranges::any_of(module.op(user).operands,
                               [&](ValueId v) { return values.contains(v); });
  };
  bool found = uses(id);
  for (ir::RegionId region : module.op(id).regions)
    ir::walk(module, region, [&](OpId inner) { found |= uses(inner); });
  return found;
}

// Ops whose results depend on the dot's go behind it, all others before.
void order_ops(const ir::Module& module, Rotation& rotation) {
  const ir::Region& body = module.region(module.op(rotation.loop).regions[0]);
  std::set<ValueId> late;
  std::vector<OpId> behind;
  for (OpId id : body.ops) {
    const OpNode& op = module.op(id);
    if (id == rotation.wait || std::ranges::count(rotation.hoisted, id) > 0) continue;
    if (op.op == Op::Yield) continue;
    if (op.op == Op::SharedStore) {
      rotation.stores.push_back(id);
      continue;
    }
    bool depends = id == rotation.dot || uses_one_of(module, id, late);
    if (depends) late.insert(op.results.begin(), op.results.end());
    if (id == rotation.dot) continue;
    (depends ? behind : rotation.order).push_back(id);
  }
  rotation.order.push_back(rotation.dot);
  rotation.order.insert(rotation.order.end(), behind.begin(), behind.end());
}

void emit_wait(Emitter& e, const Rotation& rotation) {
  e.emit_op(rotation.wait);
}

void load_first_unit(Emitter& e, Rotation& rotation) {
  MmaDot& dot = *rotation.state;
  (void)e;
  const DotUnit first = dot_units(dot)[0];
  declare_addresses(dot, dot.a);
  declare_addresses(dot, dot.b);
  load_fragments(dot, dot.a, first.a, first.set_a);
  load_fragments(dot, dot.b, first.b, first.set_b);
}

}  // namespace

std::optional<Rotation> plan_rotation(const Emitter& e, OpId loop) {
  const ir::Module& module = e.module;
  const ir::Region& body = module.region(module.op(loop).regions[0]);
  Rotation rotation;
  rotation.loop = loop;
  rotation.wait = only_op(module, body, Op::CopyWait);
  if (!rotation.wait.valid()) rotation.wait = only_op(module, body, Op::Barrier);
  if (!rotation.wait.valid()) return {};
  for (OpId id : body.ops) {
    if (auto plan = e.assignment.dots.find(id); plan != e.assignment.dots.end()) {
      if (plan->second.kind != DotPlan::Kind::kMma) return {};
      if (!rotation.dot.valid()) rotation.dot = id;
    } else if (id != rotation.wait && !may_stand(module, id, false)) {
      return {};
    }
  }
  if (!rotation.dot.valid()) return {};
  for (int i = 0; i < 2; ++i) {
    std::vector<OpId> chain;
    if (!trace_operand(e, rotation, i, chain)) return {};
    for (OpId id : chain)
      if (std::ranges::count(rotation.hoisted, id) == 0) rotation.hoisted.push_back(id);
  }
  if (rotation.hoisted.empty()) return {};
  for (OpId id : rotation.hoisted) {
    const OpNode& op = module.op(id);
    if (op.op != Op::SharedLoad) continue;
    size_t carried = *carried_slot(module, body, id);
    int64_t bytes = e.buffer(op.operands[0]).slot_bytes;
    bool known = std::ranges::any_of(rotation.slots, [&](const Rotation::Slot& slot) {
      return slot.carried == carried && slot.bytes == bytes;
    });
    if (!known) rotation.slots.push_back({carried, bytes});
  }
  order_ops(module, rotation);
  for (OpId id : rotation.order)
    if (e.assignment.dots.contains(id)) rotation.last = id;
  // A read of a slot behind the last dot would stand behind the wait.
  auto behind = std::ranges::find(rotation.order, rotation.last) + 1;
  if (!std::all_of(behind, rotation.order.end(),
                   [&](OpId id) { return ir::op_info(module.op(id).op).has(ir::kPure); }))
    return {};
  return rotation;
}

bool open_rotation(Emitter& e, Rotation& rotation, const std::vector<View>& carried) {
  rotation.carried = carried;
  for (Rotation::Slot& slot : rotation.slots) slot.name = e.fresh("slot_at");
  e.rotation = &rotation;
  for (OpId id : rotation.hoisted) e.emit_op(id);  // names of places in the slots: no text
  rotation.state.emplace(begin_dot(e, rotation.dot));
  MmaDot& dot = *rotation.state;
  std::vector<DotUnit> units = dot_units(dot);
  // The first unit of the next iteration goes where the last one of this does not lie.
  bool apart =
      dot.a.sets == 2 && dot.b.sets == 2 && units.back().set_a != 0 && units.back().set_b != 0;
  if (rotation.last == rotation.dot && !apart) {
    e.rotation = nullptr;
    return false;
  }
  for (const Rotation::Slot& slot : rotation.slots)
    e.out.line(
        fmt::format("u32 {} = (u32){} * {};", slot.name, carried[slot.carried].name, slot.bytes));
  declare_fragments(dot, dot.a, "fa");
  declare_fragments(dot, dot.b, "fb");
  e.out.open(fmt::format("if ({})", rotation.exists));
  emit_wait(e, rotation);
  load_first_unit(e, rotation);
  e.out.close();
  return true;
}

const std::string& rotated_slot(const Emitter& e, const Rotation& rotation, OpId shared_load) {
  const ir::Region& body = e.module.region(e.module.op(rotation.loop).regions[0]);
  size_t carried = *carried_slot(e.module, body, shared_load);
  int64_t bytes = e.buffer(e.module.op(shared_load).operands[0]).slot_bytes;
  for (const Rotation::Slot& slot : rotation.slots)
    if (slot.carried == carried && slot.bytes == bytes) return slot.name;
  TW_UNREACHABLE("a slot that was not planned");
}

void turn_over(Emitter& e, Rotation& rotation) {
  const ir::Region& body = e.module.region(e.module.op(rotation.loop).regions[0]);
  const OpNode& yield = e.module.op(body.ops.back());
  for (OpId store : rotation.stores) e.emit_op(store);
  emit_wait(e, rotation);
  std::string more = e.fresh("more");
  e.out.line(fmt::format("const bool {} = {};", more, rotation.more));
  for (const Rotation::Slot& slot : rotation.slots) {
    const std::string& next = e.view(yield.operands[slot.carried]).name;
    const std::string& own = rotation.carried[slot.carried].name;
    e.out.line(fmt::format("{} = (u32)tw_next_slot({}, {}, {}) * {};", slot.name, more, next, own,
                           slot.bytes));
  }
  load_first_unit(e, rotation);
}

void emit_rotated_dot(Emitter& e, Rotation& rotation) {
  MmaDot& dot = *rotation.state;
  View sum = declare_sum(dot, e.use(rotation.dot, 2));
  e.out.open("");
  declare_sides(dot, use_sides(e, rotation.dot));
  declare_addresses(dot, dot.a);
  declare_addresses(dot, dot.b);
  std::function<void()> before_last;
  if (rotation.last == rotation.dot) before_last = [&] { turn_over(e, rotation); };
  emit_units(dot, true, before_last);
  e.out.close();
  e.after_shared_read();
  define_sum(dot, std::move(sum));
}

}  // namespace tilewright::cuda
