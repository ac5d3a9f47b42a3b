// Two reductions of one region can be one where the first is if the second's operands are there
// already, and where the second is if nothing between them uses the first's results.
#include "codegen/passes/merge_reductions.h"

#include <algorithm>

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

// More results than that hold too many registers at once.
constexpr size_t kMostOperands = 4;

class Merger {
 public:
  explicit Merger(Module& module) : module_(module) {}

  bool run() {
    visit(module_.body);
    return changed_;
  }

 private:
  void visit(RegionId region) {
    while (merge_one(region)) changed_ = true;
    const std::vector<OpId> ops = module_.region(region).ops;
    for (OpId op : ops)
      for (RegionId nested : module_.op(op).regions)
        if (!ir::op_info(module_.op(op).op).has(ir::kCombines)) visit(nested);
  }

  bool merge_one(RegionId region) {
    const std::vector<OpId>& ops = module_.region(region).ops;
    for (size_t first = 0; first < ops.size(); ++first) {
      if (module_.op(ops[first]).op != Op::Reduce) continue;
      for (size_t second = first + 1; second < ops.size(); ++second) {
        if (!are_alike(ops[first], ops[second]) || uses_results(ops[second], ops[first])) continue;
        if (are_defined_before(region, ops[second], first))
          return merge(region, ops[first], ops[second]);
        if (!is_used_between(region, first, second)) return merge(region, ops[second], ops[first]);
      }
    }
    return false;
  }

  bool are_alike(OpId a, OpId b) const {
    const OpNode &first = module_.op(a), &second = module_.op(b);
    return second.op == Op::Reduce && first.attrs == second.attrs &&
           module_.type(first.operands[0]).shape == module_.type(second.operands[0]).shape &&
           first.operands.size() + second.operands.size() <= kMostOperands;
  }

  bool uses_results(OpId user, OpId producer) const {
    const std::vector<ValueId>& results = module_.op(producer).results;
    return std::ranges::any_of(module_.op(user).operands, [&](ValueId operand) {
      return std::ranges::count(results, operand) > 0;
    });
  }

  // The operands of `op` stand before position `first` of the region, or outside of it.
  bool are_defined_before(RegionId region, OpId op, size_t first) const {
    const std::vector<OpId>& ops = module_.region(region).ops;
    return std::ranges::all_of(module_.op(op).operands, [&](ValueId operand) {
      OpId def = module_.value(operand).def;
      if (!def.valid() || module_.op(def).parent != region) return true;
      return std::ranges::find(ops, def) - ops.begin() < static_cast<std::ptrdiff_t>(first);
    });
  }

  bool is_used_between(RegionId region, size_t first, size_t second) const {
    const std::vector<OpId>& ops = module_.region(region).ops;
    bool used = false;
    for (size_t i = first + 1; i < second; ++i) {
      used |= uses_results(ops[i], ops[first]);
      for (RegionId nested : module_.op(ops[i]).regions)
        ir::walk(module_, nested, [&](OpId op) { used |= uses_results(op, ops[first]); });
    }
    return used;
  }

  // `gone` becomes a part of `kept`.
  bool merge(RegionId region, OpId kept, OpId gone) {
    OpNode &to = module_.op(kept), &from = module_.op(gone);
    ir::Region &into = module_.region(to.regions[0]), &body = module_.region(from.regions[0]);
    const size_t a = to.operands.size(), b = from.operands.size();
    std::vector<ValueId> args;
    for (size_t side = 0; side < 2; ++side) {
      for (size_t k = 0; k < a; ++k) args.push_back(into.args[side * a + k]);
      for (size_t k = 0; k < b; ++k) args.push_back(body.args[side * b + k]);
    }
    into.args = args;
    for (size_t i = 0; i < args.size(); ++i) {
      module_.value(args[i]).region = to.regions[0];
      module_.value(args[i]).position = static_cast<uint32_t>(i);
    }
    OpNode &yield = module_.op(into.ops.back()), &other = module_.op(body.ops.back());
    body.ops.pop_back();
    for (OpId op : body.ops) module_.op(op).parent = to.regions[0];
    into.ops.insert(into.ops.end() - 1, body.ops.begin(), body.ops.end());
    body.ops.clear();
    yield.operands.insert(yield.operands.end(), other.operands.begin(), other.operands.end());
    to.operands.insert(to.operands.end(), from.operands.begin(), from.operands.end());
    for (ValueId result : from.results) {
      module_.value(result).def = kept;
      module_.value(result).position = static_cast<uint32_t>(to.results.size());
      to.results.push_back(result);
    }
    std::erase(module_.region(region).ops, gone);
    return true;
  }

  Module& module_;
  bool changed_ = false;
};

}  // namespace

bool merge_reductions(Module& module) {
  bool changed = Merger(module).run();
  if (changed) module.compact();
  return changed;
}

}  // namespace tilewright::passes
