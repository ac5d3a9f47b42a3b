#include <bit>
#include <set>

#include "codegen/ir/verifier.h"

namespace tilewright::ir {
namespace {

ErrorInfo storage_error(const std::string& what) {
  return make_error(DiagKind::kIrStructure, "the module is inconsistent: " + what);
}

// Visits everything reachable from the body once.
class StorageCheck {
 public:
  explicit StorageCheck(const Module& module)
      : module_(module), seen_ops_(module.op_count()), seen_regions_(module.region_count()) {}

  Status check_region(RegionId id, OpId parent) {
    if (id.index >= module_.region_count()) return storage_error("a region id is out of range");
    if (seen_regions_[id.index]) return storage_error("a region is in two places");
    seen_regions_[id.index] = true;
    const Region& region = module_.region(id);
    if (region.parent != parent) return storage_error("a region does not know its op");
    for (size_t i = 0; i < region.args.size(); ++i) {
      TW_TRY(check_value(region.args[i]));
      const Value& value = module_.value(region.args[i]);
      if (value.region != id || value.def.valid() || value.position != i)
        return storage_error("a region argument does not know its region");
    }
    for (OpId op : region.ops) TW_TRY(check_op(op, id));
    return {};
  }

 private:
  Status check_value(ValueId id) {
    if (id.index >= module_.value_count()) return storage_error("a value id is out of range");
    return {};
  }

  Status check_op(OpId id, RegionId parent) {
    if (id.index >= module_.op_count()) return storage_error("an op id is out of range");
    if (seen_ops_[id.index]) return storage_error("an op is in two places");
    seen_ops_[id.index] = true;
    const OpNode& node = module_.op(id);
    if (node.parent != parent) return storage_error("an op does not know its region");
    for (size_t i = 0; i < node.results.size(); ++i) {
      TW_TRY(check_value(node.results[i]));
      const Value& value = module_.value(node.results[i]);
      if (value.def != id || value.region.valid() || value.position != i)
        return storage_error("a result does not know its op");
    }
    for (ValueId operand : node.operands) TW_TRY(check_value(operand));
    for (RegionId region : node.regions) TW_TRY(check_region(region, id));
    return {};
  }

  const Module& module_;
  std::vector<bool> seen_ops_, seen_regions_;
};

// Which values can be used at the current point of a walk in text order.
class VisibilityCheck {
 public:
  explicit VisibilityCheck(Verifier& verifier)
      : verifier_(verifier), module_(verifier.module), visible_(module_.value_count()) {}

  void check_region(RegionId id) {
    const Region& region = module_.region(id);
    // Values of a closed region stop being visible when it ends.
    size_t scope = defined_.size();
    for (ValueId arg : region.args) define(arg);
    for (OpId op : region.ops) check_op(op);
    while (defined_.size() > scope) {
      visible_[defined_.back().index] = false;
      defined_.pop_back();
    }
  }

 private:
  void define(ValueId id) {
    visible_[id.index] = true;
    defined_.push_back(id);
  }

  void check_op(OpId id) {
    const OpNode& node = module_.op(id);
    for (ValueId operand : node.operands) {
      if (visible_[operand.index]) continue;
      report(id, operand);
      break;
    }
    if (op_info(node.op).has(kCombines)) {
      // Nothing from outside is visible inside.
      std::vector<bool> saved(module_.value_count());
      std::swap(saved, visible_);
      for (RegionId region : node.regions) check_region(region);
      std::swap(saved, visible_);
    } else {
      for (RegionId region : node.regions) check_region(region);
    }
    for (ValueId result : node.results) define(result);
  }

  void report(OpId user, ValueId operand) {
    const Value& value = module_.value(operand);
    RegionId home = value.def.valid() ? module_.op(value.def).parent : value.region;
    bool encloses = false, inside_reduce = false;
    for (RegionId at = module_.op(user).parent; at.valid();) {
      if (at == home) encloses = true;
      OpId owner = module_.region(at).parent;
      if (!encloses && owner.valid() && op_info(module_.op(owner).op).has(kCombines))
        inside_reduce = true;
      at = owner.valid() ? module_.op(owner).parent : RegionId{};
    }
    std::string name = verifier_.name(operand);
    std::string message =
        !home.valid() ? name + " is not a result of an op in the module"
        : encloses && inside_reduce
            ? name + " is used inside a reduction or scan, whose region sees nothing from outside"
        : encloses ? name + " is used before its definition"
                   : name +
                         " is not visible here: it is defined in a region that does not "
                         "enclose this op";
    Diagnostic& error = verifier_.error(DiagKind::kIrStructure, user, message);
    OpId where = value.def.valid() ? value.def
                 : home.valid()    ? module_.region(home).parent
                                   : OpId{};
    if (where.valid()) verifier_.note(error, where, "defined here");
  }

  Verifier& verifier_;
  const Module& module_;
  std::vector<bool> visible_;
  std::vector<ValueId> defined_;
};

void verify_params(Verifier& v) {
  const Module& module = v.module;
  size_t args = module.region(module.body).args.size();
  if (module.params.size() != args) {
    v.error(DiagKind::kIrStructure, {},
            "the kernel has " + std::to_string(module.params.size()) + " parameters, but " +
                std::to_string(args) + " arguments of its body");
    return;
  }
  for (ValueId arg : module.region(module.body).args) {
    std::string wrong = module.type(arg).is_shared ? "a parameter cannot be a shared buffer"
                                                   : check_type(module.type(arg));
    if (!wrong.empty()) v.error(DiagKind::kIrType, {}, v.name(arg) + ": " + wrong);
  }
  std::set<std::string_view> names;
  for (const Param& param : module.params) {
    if (!names.insert(param.name).second)
      v.error(DiagKind::kIrStructure, {}, "two parameters are named '" + param.name + "'");
    if (param.divisibility < 1 || !std::has_single_bit(static_cast<uint64_t>(param.divisibility)))
      v.error(DiagKind::kIrStructure, {},
              "the divisibility of '" + param.name + "' is " + std::to_string(param.divisibility) +
                  ", but must be a power of two");
  }
}

Op terminator_of(const Module& module, RegionId region) {
  OpId owner = module.region(region).parent;
  if (!owner.valid()) return Op::Return;
  const OpNode& node = module.op(owner);
  return node.op == Op::While && node.regions[0] == region ? Op::Condition : Op::Yield;
}

void verify_terminators(Verifier& v, RegionId id) {
  const Region& region = v.module.region(id);
  std::string wanted(op_info(terminator_of(v.module, id)).mnemonic);
  if (region.ops.empty() || v.module.op(region.ops.back()).op != terminator_of(v.module, id)) {
    OpId where = region.ops.empty() ? region.parent : region.ops.back();
    v.error(DiagKind::kIrStructure, where,
            region.ops.empty() ? "a region is empty, but must end with '" + wanted + "'"
                               : "the region must end with '" + wanted + "'");
  }
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const OpNode& node = v.module.op(region.ops[i]);
    std::string mnemonic(op_info(node.op).mnemonic);
    if (op_info(node.op).has(kTerminator) && i + 1 < region.ops.size())
      v.error(DiagKind::kIrStructure, region.ops[i], "ops follow '" + mnemonic + "' in its region");
    if (static_cast<int>(node.regions.size()) != op_info(node.op).regions)
      v.error(DiagKind::kIrStructure, region.ops[i],
              "'" + mnemonic + "' has " + std::to_string(node.regions.size()) +
                  " regions, but must have " + std::to_string(op_info(node.op).regions));
    for (RegionId nested : node.regions) verify_terminators(v, nested);
  }
}

}  // namespace

Status verify_storage(const Module& module) {
  if (!module.body.valid()) return storage_error("it has no body");
  return StorageCheck(module).check_region(module.body, {});
}

void verify_structure(Verifier& verifier) {
  verify_params(verifier);
  verify_terminators(verifier, verifier.module.body);
  VisibilityCheck(verifier).check_region(verifier.module.body);
}

}  // namespace tilewright::ir
