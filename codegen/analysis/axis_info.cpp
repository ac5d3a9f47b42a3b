#include "codegen/analysis/axis_info.h"

#include <algorithm>
#include <set>

#include "codegen/analysis/axis_rules.h"
#include "dsl/base/check.h"

namespace tilewright::analysis {
namespace {

using ir::Op;
using ir::OpId;
using ir::ValueId;

// Runs the transfer functions forward; loops until their carried values no longer change. Carried
// values start as what enters the loop and only ever lose properties, so this ends.
class Analysis {
 public:
  explicit Analysis(const ir::Module& module) : module_(module), infos_(module.value_count()) {
    for (OpId id : module.region(module.body).ops) note_assumption(module.op(id));
  }

  std::vector<AxisInfo> run() {
    const ir::Region& body = module_.region(module_.body);
    for (size_t i = 0; i < body.args.size(); ++i) {
      AxisInfo info = unknown_axes(module_.type(body.args[i]));
      info.divisibility[0] = power_of_two_divisor(module_.params[i].divisibility);
      set(body.args[i], info);
    }
    visit(module_.body);
    return std::move(infos_);
  }

 private:
  // assume(x >= c) in the kernel's body, c not negative.
  void note_assumption(const ir::OpNode& op) {
    if (op.op != Op::Assume) return;
    const ir::OpNode* cmp = module_.def(op.operands[0]);
    if (cmp == nullptr || cmp->op != Op::Cmp) return;
    const ir::OpNode* bound = module_.def(cmp->operands[1]);
    if (bound == nullptr || bound->op != Op::Const ||
        is_float(module_.type(cmp->operands[1]).dtype))
      return;
    std::string_view pred = cmp->attrs.get_word("pred");
    if ((pred == "ge" || pred == "gt") && bound->attrs.get_int("value") >= 0)
      assumed_non_negative_.insert(cmp->operands[0]);
  }

  AxisInfo& info(ValueId value) { return infos_[value.index]; }
  void set(ValueId value, AxisInfo info) {
    if (assumed_non_negative_.contains(value)) info.non_negative = true;
    infos_[value.index] = std::move(info);
  }
  // Lowers what is known of `target` to what `source` allows; true if that changed it.
  bool lower(ValueId target, ValueId source) {
    AxisInfo& known = info(target);
    AxisInfo before = known;
    set(target, meet(known, info(source)));
    return !(info(target) == before);
  }
  const ir::OpNode& terminator(ir::RegionId region) {
    return module_.op(module_.region(region).ops.back());
  }

  void visit(ir::RegionId region) {
    for (OpId id : module_.region(region).ops) {
      const ir::OpNode& op = module_.op(id);
      switch (op.op) {
        case Op::For:
          visit_for(op);
          break;
        case Op::While:
          visit_while(op);
          break;
        case Op::If:
          visit_if(op);
          break;
        default:
          visit_plain(op);
      }
    }
  }

  void visit_plain(const ir::OpNode& op) {
    if (op.results.size() == 1 && op.regions.empty()) {
      set(op.results[0], transfer(module_, op, infos_));
      return;
    }
    for (ValueId result : op.results) set(result, unknown_axes(module_.type(result)));
    for (ir::RegionId region : op.regions) {  // reduce: its arguments are scalars of unknown value
      for (ValueId arg : module_.region(region).args) set(arg, unknown_axes(module_.type(arg)));
      visit(region);
    }
  }

  void visit_for(const ir::OpNode& op) {
    const ir::Region& body = module_.region(op.regions[0]);
    const AxisInfo lo = info(op.operands[0]), step = info(op.operands[2]);
    AxisInfo counter = unknown_axes(module_.type(body.args[0]));
    counter.divisibility[0] = std::min(lo.divisibility[0], step.divisibility[0]);
    counter.non_negative = lo.non_negative && (!step.constant || *step.constant > 0);
    set(body.args[0], counter);
    size_t carried = op.results.size();
    for (size_t i = 0; i < carried; ++i) set(body.args[i + 1], info(op.operands[i + 3]));
    for (bool changed = true; changed;) {
      visit(op.regions[0]);
      changed = false;
      const ir::OpNode& yield = terminator(op.regions[0]);
      for (size_t i = 0; i < carried; ++i) changed |= lower(body.args[i + 1], yield.operands[i]);
    }
    for (size_t i = 0; i < carried; ++i) set(op.results[i], info(body.args[i + 1]));
  }

  void visit_while(const ir::OpNode& op) {
    const ir::Region& before = module_.region(op.regions[0]);
    const ir::Region& after = module_.region(op.regions[1]);
    for (size_t i = 0; i < before.args.size(); ++i) set(before.args[i], info(op.operands[i]));
    for (bool changed = true; changed;) {
      visit(op.regions[0]);
      const ir::OpNode& condition = terminator(op.regions[0]);
      for (size_t i = 0; i < after.args.size(); ++i)
        set(after.args[i], info(condition.operands[i + 1]));
      visit(op.regions[1]);
      changed = false;
      const ir::OpNode& yield = terminator(op.regions[1]);
      for (size_t i = 0; i < before.args.size(); ++i)
        changed |= lower(before.args[i], yield.operands[i]);
    }
    const ir::OpNode& condition = terminator(op.regions[0]);
    for (size_t i = 0; i < op.results.size(); ++i)
      set(op.results[i], info(condition.operands[i + 1]));
  }

  void visit_if(const ir::OpNode& op) {
    for (ir::RegionId region : op.regions) visit(region);
    const ir::OpNode& yes = terminator(op.regions[0]);
    const ir::OpNode& no = terminator(op.regions[1]);
    for (size_t i = 0; i < op.results.size(); ++i)
      set(op.results[i], meet(info(yes.operands[i]), info(no.operands[i])));
  }

  const ir::Module& module_;
  std::vector<AxisInfo> infos_;
  std::set<ValueId> assumed_non_negative_;
};

}  // namespace

int64_t AxisInfo::element_divisor() const {
  int64_t divisor = constant ? power_of_two_divisor(*constant) : 1;
  for (int d = 0; d < rank(); ++d)
    if (contiguity[d] == 1) divisor = std::max(divisor, divisibility[d]);
  return divisor;
}

int64_t AxisInfo::divisor_at(int d, int64_t block, int64_t unit) const {
  if (block >= contiguity[d]) return std::max(divisibility[d], element_divisor());
  return std::max(std::min(divisibility[d], block * unit), element_divisor());
}

std::string to_string(const AxisInfo& info) {
  auto list = [](const std::vector<int64_t>& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(values[i]);
    return text + "]";
  };
  std::string text = "contiguity=" + list(info.contiguity) +
                     " divisibility=" + list(info.divisibility) +
                     " constancy=" + list(info.constancy);
  if (info.constant) text += " constant=" + std::to_string(*info.constant);
  if (info.non_negative) text += " non_negative";
  return text;
}

std::vector<AxisInfo> analyze_axes(const ir::Module& module) {
  return Analysis(module).run();
}

int vector_width(const ir::Module& module, const std::vector<AxisInfo>& infos, ir::OpId id,
                 int axis) {
  const ir::OpNode& op = module.op(id);
  TW_CHECK(
      op.op == Op::Load || op.op == Op::Store || op.op == Op::CopyAsync || op.op == Op::AtomicRmw,
      "vectors are for loads, stores, copies and additions");
  size_t at = op.op == Op::CopyAsync ? 2 : 0;
  ValueId pointer = op.operands[at];
  if (module.type(pointer).is_scalar()) return 1;
  const AxisInfo& info = infos[pointer.index];
  int64_t bytes = dtype_bytes(module.type(pointer).dtype);
  int64_t width = std::min(info.contiguity[axis], 16 / bytes);
  width = std::min(width, info.divisor_at(axis, width, bytes) / bytes);
  size_t mask = op.op == Op::Load ? 1 : at + (op.op == Op::CopyAsync ? 1 : 2);
  if (op.operands.size() > mask)
    width = std::min(width, infos[op.operands[mask].index].constancy[axis]);
  return static_cast<int>(std::max<int64_t>(1, width));
}

}  // namespace tilewright::analysis
