#include "codegen/ir/module.h"

#include "dsl/base/check.h"

namespace tilewright::ir {

RegionId Module::add_region(OpId parent) {
  RegionId id{static_cast<uint32_t>(regions_.size())};
  regions_.emplace_back().parent = parent;
  if (parent.valid()) op(parent).regions.push_back(id);
  return id;
}

ValueId Module::add_region_arg(RegionId region, Type type, std::string name) {
  ValueId id{static_cast<uint32_t>(values_.size())};
  auto& args = this->region(region).args;
  values_.push_back(
      {std::move(type), {}, region, static_cast<uint32_t>(args.size()), std::move(name)});
  args.push_back(id);
  return id;
}

OpId Module::add_op(Op op, Span span, std::vector<ValueId> operands, Attrs attrs,
                    const std::vector<Type>& result_types) {
  OpId id{static_cast<uint32_t>(ops_.size())};
  OpNode& node = ops_.emplace_back();
  node.op = op;
  node.span = span;
  node.operands = std::move(operands);
  node.attrs = std::move(attrs);
  for (const Type& type : result_types) {
    node.results.push_back({static_cast<uint32_t>(values_.size())});
    values_.push_back({type, id, {}, static_cast<uint32_t>(node.results.size() - 1), {}});
  }
  return id;
}

void Module::append(RegionId region, OpId op) {
  insert(region, this->region(region).ops.size(), op);
}

void Module::insert(RegionId region, size_t position, OpId op) {
  TW_CHECK(!this->op(op).parent.valid(), "the op is in a region already");
  auto& ops = this->region(region).ops;
  TW_CHECK(position <= ops.size(), "insertion point outside the region");
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(position), op);
  this->op(op).parent = region;
}

void Module::replace_uses(ValueId from, ValueId to) {
  for (OpNode& node : ops_)
    for (ValueId& operand : node.operands)
      if (operand == from) operand = to;
}

namespace {

// Copies the reachable part of one module into another, in the order of the text.
class Compaction {
 public:
  Compaction(const Module& from, Module& to) : from_(from), to_(to) {
    new_value_.resize(from.value_count());
  }

  RegionId copy_region(RegionId old, OpId parent) {
    RegionId id = to_.add_region(parent);
    for (ValueId arg : from_.region(old).args)
      new_value_[arg.index] = to_.add_region_arg(id, from_.type(arg), from_.value(arg).name);
    for (OpId op : from_.region(old).ops) copy_op(op, id);
    return id;
  }

 private:
  void copy_op(OpId old, RegionId region) {
    const OpNode& node = from_.op(old);
    std::vector<ValueId> operands;
    for (ValueId operand : node.operands) {
      TW_CHECK(new_value_[operand.index].valid(), "a value is used before its definition");
      operands.push_back(new_value_[operand.index]);
    }
    std::vector<Type> types;
    for (ValueId result : node.results) types.push_back(from_.type(result));
    OpId id = to_.add_op(node.op, node.span, std::move(operands), node.attrs, types);
    to_.append(region, id);
    for (size_t i = 0; i < node.results.size(); ++i) {
      ValueId result = to_.op(id).results[i];
      to_.value(result).name = from_.value(node.results[i]).name;
      new_value_[node.results[i].index] = result;
    }
    for (RegionId nested : node.regions) copy_region(nested, id);
  }

  const Module& from_;
  Module& to_;
  std::vector<ValueId> new_value_;
};

}  // namespace

void Module::compact() {
  Module fresh;
  fresh.name = name;
  fresh.params = params;
  fresh.attrs = attrs;
  fresh.body = Compaction(*this, fresh).copy_region(body, {});
  *this = std::move(fresh);
}

void walk(const Module& module, RegionId region, const std::function<void(OpId)>& visit) {
  for (size_t i = 0; i < module.region(region).ops.size(); ++i) {
    OpId op = module.region(region).ops[i];
    visit(op);
    for (size_t k = 0; k < module.op(op).regions.size(); ++k)
      walk(module, module.op(op).regions[k], visit);
  }
}

}  // namespace tilewright::ir
