// Removes what nothing uses: pure ops, loads that are not volatile, results of `if`, carried values
// of loops and operands of reductions, and control flow that does nothing.
//
//   %a: i32, %b: i32 = for … %x, %y region(%i: i32, %u: i32, %v: i32) {
//     %w: i32 = add %v, %i
//     yield %u, %w                          ->  %a: i32 = for … %x region(%i: i32, %u: i32) {
//   }                                             yield %u
//   store %p, %a                                }
//
// Liveness starts at ops that must stay and follows operands; a carried value is alive as a whole:
// initial value, region arguments, what the region passes on, result.
#include "codegen/passes/passes.h"

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

class Liveness {
 public:
  explicit Liveness(const Module& module)
      : module_(module), op_(module.op_count()), value_(module.value_count()) {
    ir::walk(module, module.body, [&](OpId op) {
      if (must_stay(op)) mark_op(op);
    });
    while (!pending_.empty()) {
      ValueId id = pending_.back();
      pending_.pop_back();
      follow(id);
    }
  }

  bool is_live(OpId id) const { return op_[id.index]; }
  bool is_live(ValueId id) const { return value_[id.index]; }

 private:
  bool must_stay(OpId id) const {
    const OpNode& node = module_.op(id);
    const ir::OpInfo& info = ir::op_info(node.op);
    if (node.op == Op::Return || info.has(ir::kWrites)) return true;
    return info.has(ir::kReads) && node.attrs.get_int("volatile") == 1;
  }

  void mark_op(OpId id) {
    if (op_[id.index]) return;
    op_[id.index] = true;
    const OpNode& node = module_.op(id);
    RegionId parent = node.parent;
    if (OpId owner = module_.region(parent).parent; owner.valid()) mark_op(owner);
    switch (node.op) {
      case Op::Yield:
      case Op::Reduce:
      case Op::Scan:
        return;  // operand by operand, in mark_slot
      case Op::Condition:
      case Op::If:
        mark(node.operands[0]);
        break;
      case Op::For:
        for (size_t i = 0; i < 3; ++i) mark(node.operands[i]);
        break;
      case Op::While:
        break;
      default:
        for (ValueId operand : node.operands) mark(operand);
        return;
    }
    for (RegionId region : node.regions) mark_op(module_.region(region).ops.back());
  }

  void mark(ValueId id) {
    if (value_[id.index]) return;
    value_[id.index] = true;
    pending_.push_back(id);
  }

  void follow(ValueId id) {
    const ir::Value& value = module_.value(id);
    OpId owner = value.def.valid() ? value.def : module_.region(value.region).parent;
    if (!owner.valid()) return;  // a parameter
    mark_op(owner);
    const OpNode& node = module_.op(owner);
    size_t slot = value.position;
    if (!value.def.valid()) {
      if (node.op == Op::For && slot == 0) return;  // the index
      if (node.op == Op::For) slot -= 1;
      if (ir::op_info(node.op).has(ir::kCombines)) slot %= node.operands.size();
    }
    mark_slot(node, slot);
  }

  // Everything that belongs to result `slot` of an op with regions.
  void mark_slot(const OpNode& node, size_t slot) {
    if (node.regions.empty()) return;
    mark(node.results[slot]);
    if (node.op == Op::For) mark(node.operands[3 + slot]);
    if (node.op == Op::While || ir::op_info(node.op).has(ir::kCombines)) mark(node.operands[slot]);
    for (RegionId id : node.regions) {
      const ir::Region& region = module_.region(id);
      if (node.op == Op::For) mark(region.args[1 + slot]);
      if (node.op == Op::While) mark(region.args[slot]);
      if (ir::op_info(node.op).has(ir::kCombines)) {
        mark(region.args[slot]);
        mark(region.args[node.operands.size() + slot]);
      }
      OpId last = region.ops.back();
      mark_op(last);
      mark(module_.op(last).operands[slot + (module_.op(last).op == Op::Condition ? 1 : 0)]);
    }
  }

  const Module& module_;
  std::vector<bool> op_, value_;
  std::vector<ValueId> pending_;
};

class Sweeper {
 public:
  Sweeper(Module& module, const Liveness& live) : module_(module), live_(live) {}

  bool run() {
    sweep_region(module_.body);
    return changed_;
  }

 private:
  void sweep_region(RegionId region) {
    auto& ops = module_.region(region).ops;
    changed_ = std::erase_if(ops, [&](OpId op) { return !live_.is_live(op); }) > 0 || changed_;
    for (OpId op : ops)
      if (!module_.op(op).regions.empty()) sweep_op(op);
  }

  // Drops the dead results of an op with regions and all that belongs to them.
  void sweep_op(OpId id) {
    OpNode& node = module_.op(id);
    std::vector<bool> dead;
    for (ValueId result : node.results) dead.push_back(!live_.is_live(result));
    size_t slots = dead.size();
    if (node.op == Op::For) drop(node.operands, dead, 3);
    if (node.op == Op::While || ir::op_info(node.op).has(ir::kCombines))
      drop(node.operands, dead, 0);
    for (RegionId nested : node.regions) {
      ir::Region& region = module_.region(nested);
      OpNode& last = module_.op(region.ops.back());
      drop(last.operands, dead, last.op == Op::Condition ? 1 : 0);
      if (ir::op_info(node.op).has(ir::kCombines)) drop(region.args, dead, slots);
      if (node.op != Op::If) drop(region.args, dead, node.op == Op::For ? 1 : 0);
      sweep_region(nested);
    }
    drop(node.results, dead, 0);
  }

  void drop(std::vector<ValueId>& values, const std::vector<bool>& dead, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < values.size(); ++i)
      if (i - first >= dead.size() || !dead[i - first]) values[kept++] = values[i];
    changed_ = changed_ || kept != values.size();
    values.resize(kept);
  }

  Module& module_;
  const Liveness& live_;
  bool changed_ = false;
};

}  // namespace

bool eliminate_dead_code(Module& module) {
  bool changed = Sweeper(module, Liveness(module)).run();
  module.compact();
  return changed;
}

}  // namespace tilewright::passes
