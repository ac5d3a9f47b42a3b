// Gives each use the layout it needs: flexible values are made once for each layout that is asked
// of them; other values are converted, and a conversion that several uses share, or that a loop
// would repeat, becomes an op of its own behind the definition.
//
//   %m: mask, used by a load (blocked) and a store (mma)   ->  %m (blocked), %m.1 (mma)
//   %q, defined before a loop, operand of a dot inside      ->  %q' = reshape %q  (same shape: the
//                                                               conversion), used inside
#include <algorithm>

#include "codegen/cuda/assign_layouts.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;
using layout::LinearLayout;

class Rewriter {
 public:
  explicit Rewriter(Assigner& a) : a_(a), module_(a.module) {}

  void run() {
    for (OpId id : a_.order) {
      const OpNode& op = module_.op(id);
      if (op.results.size() == 1 && a_.state(op.results[0]).flexible) continue;
      fix_operands(id);
    }
    insert_conversions();
    remove_dead_ops();
    fill_result();
  }

 private:
  struct Request {
    ValueId value;
    LinearLayout layout;
    OpId op;
    int index;
  };

  const LinearLayout* known(ValueId value) {
    const ValueState& s = a_.state(value);
    return s.layout ? &*s.layout : nullptr;
  }

  void fix_operands(OpId id) {
    for (size_t i = 0; i < module_.op(id).operands.size(); ++i) {
      ValueId operand = module_.op(id).operands[i];
      if (!a_.is_tile(operand)) continue;
      auto needed = needed_layout(
          module_, a_.result, [&](ValueId v) { return known(v); }, id, static_cast<int>(i));
      if (auto found = a_.reductions.find(id); found != a_.reductions.end()) needed = found->second;
      if (!needed) {  // any layout will do
        if (known(operand) == nullptr)
          obtain(operand, a_.default_layout(module_.type(operand)), id, static_cast<int>(i));
        continue;
      }
      ValueId replacement = obtain(operand, *needed, id, static_cast<int>(i));
      module_.op(id).operands[i] = replacement;
    }
  }

  // A value equal to `value` with the layout; for a value that is not flexible the value itself,
  // noting that operand `index` of `op` must be converted.
  ValueId obtain(ValueId value, const LinearLayout& layout, OpId op, int index) {
    const ValueState& s = a_.state(value);
    if (s.layout && *s.layout == layout) return value;
    if (!s.flexible) {
      requests_.push_back({value, layout, op, index});
      return value;
    }
    if (!s.layout) {
      a_.state(value).layout = layout;
      fix_operands(module_.value(value).def);
      return value;
    }
    for (ValueId copy : copies_[value])
      if (*a_.state(copy).layout == layout) return copy;
    ValueId copy = clone(value, layout);
    copies_[value].push_back(copy);
    fix_operands(module_.value(copy).def);
    return copy;
  }

  ValueId clone(ValueId value, const LinearLayout& layout) {
    OpId original = module_.value(value).def;
    OpNode node = module_.op(original);
    ir::Type type = module_.type(value);
    // The copy asks for the original's operands again, not for those already fixed.
    OpId id = module_.add_op(node.op, node.span, originals(node.operands), node.attrs, {type});
    insert_behind(value, id);
    ValueId copy = module_.op(id).results[0];
    module_.value(copy).name = module_.value(value).name;
    return define(copy, layout, true, value);
  }
  std::vector<ValueId> originals(std::vector<ValueId> operands) {
    for (ValueId& operand : operands)
      if (auto found = original_.find(operand); found != original_.end()) operand = found->second;
    return operands;
  }

  ValueId define(ValueId value, const LinearLayout& layout, bool flexible, ValueId like) {
    a_.values.resize(module_.value_count());
    ValueState& s = a_.state(value);
    s.layout = layout;
    s.flexible = flexible;
    s.depth = a_.state(like).depth;
    original_[value] = like;
    return value;
  }

  // Puts an op right behind the definition of a value.
  void insert_behind(ValueId value, OpId id) {
    const ir::Value& v = module_.value(value);
    if (!v.def.valid()) {
      module_.insert(v.region, 0, id);
      return;
    }
    RegionId region = module_.op(v.def).parent;
    const auto& ops = module_.region(region).ops;
    module_.insert(region, std::ranges::find(ops, v.def) - ops.begin() + 1, id);
  }

  // Loops around an op, wherever it came from.
  int depth_of(OpId id) const {
    int depth = 0;
    for (OpId at = module_.region(module_.op(id).parent).parent; at.valid();
         at = module_.region(module_.op(at).parent).parent)
      depth += module_.op(at).op == Op::For || module_.op(at).op == Op::While;
    return depth;
  }

  void insert_conversions() {
    for (size_t i = 0; i < requests_.size(); ++i) {
      const Request first = requests_[i];
      if (!first.value.valid()) continue;
      std::vector<size_t> same;
      bool in_loop = false;
      for (size_t j = i; j < requests_.size(); ++j)
        if (requests_[j].value == first.value && requests_[j].layout == first.layout) {
          same.push_back(j);
          in_loop |= depth_of(requests_[j].op) > a_.state(first.value).depth;
        }
      if (same.size() > 1 || in_loop) convert(first, same);
      for (size_t j : same) requests_[j].value = {};
    }
  }

  void convert(const Request& first, const std::vector<size_t>& uses) {
    ir::Type type = module_.type(first.value);
    Span span = module_.op(first.op).span;
    OpId id = module_.add_op(Op::Reshape, span, {first.value}, {}, {type});
    insert_behind(first.value, id);
    ValueId converted = module_.op(id).results[0];
    module_.value(converted).name = module_.value(first.value).name;
    define(converted, first.layout, false, first.value);
    for (size_t use : uses)
      module_.op(requests_[use].op).operands[requests_[use].index] = converted;
  }

  // Originals of which only copies are used.
  void remove_dead_ops() {
    std::vector<int> uses(module_.value_count());
    ir::walk(module_, module_.body, [&](OpId id) {
      for (ValueId operand : module_.op(id).operands) ++uses[operand.index];
    });
    remove_dead_ops(module_.body, uses);
  }
  void remove_dead_ops(RegionId region, std::vector<int>& uses) {
    std::vector<OpId> kept, ops = module_.region(region).ops;
    for (auto id = ops.rbegin(); id != ops.rend(); ++id) {
      const OpNode& op = module_.op(*id);
      bool used = !ir::op_info(op.op).has(ir::kPure);
      for (ValueId result : op.results) used |= uses[result.index] > 0;
      for (RegionId nested : op.regions) remove_dead_ops(nested, uses);
      if (used)
        kept.push_back(*id);
      else
        for (ValueId operand : op.operands) --uses[operand.index];
    }
    std::ranges::reverse(kept);
    module_.region(region).ops = kept;
  }

  void fill_result() {
    auto& values = a_.result.values;
    values.assign(module_.value_count(), {});
    auto fill = [&](ValueId value) {
      if (!a_.is_tile(value)) {
        values[value.index] = layout::replicated({}, a_.result.warps);
        return;
      }
      const ValueState& s = a_.state(value);
      values[value.index] = s.layout ? *s.layout : a_.default_layout(module_.type(value));
    };
    for (ValueId arg : module_.region(module_.body).args) fill(arg);
    ir::walk(module_, module_.body, [&](OpId id) {
      for (ValueId result : module_.op(id).results) fill(result);
      for (RegionId region : module_.op(id).regions)
        for (ValueId arg : module_.region(region).args) fill(arg);
    });
  }

  Assigner& a_;
  ir::Module& module_;
  std::map<ValueId, std::vector<ValueId>> copies_;
  std::map<ValueId, ValueId> original_;
  std::vector<Request> requests_;
};

}  // namespace

void rewrite_uses(Assigner& assigner) {
  Rewriter(assigner).run();
}

}  // namespace tilewright::cuda
