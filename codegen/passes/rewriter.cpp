#include "codegen/passes/rewriter.h"

#include <utility>

#include "codegen/passes/fold.h"
#include "dsl/base/check.h"

namespace tilewright::passes {

using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

namespace {

// Far above what rules that shrink can reach; a pair of rules that undo each other runs into it.
constexpr int kMaxDepth = 300, kMaxSweeps = 200;

}  // namespace

Rewriter::Rewriter(ir::Module& module, std::span<const Rule* const> rules)
    : module_(module), rules_(rules), rules_of_(ir::kOpCount), hits_(rules.size()) {
  for (size_t i = 0; i < rules.size(); ++i)
    rules_of_[static_cast<size_t>(rules[i]->op)].push_back(static_cast<int>(i));
}

bool Rewriter::run() {
  bool ever = false;
  int sweeps = 0;
  do {
    TW_CHECK(++sweeps <= kMaxSweeps, "the rewrite rules do not come to an end");
    changed_ = false;
    visit_region(module_.body);
    ever = ever || changed_;
  } while (changed_);
  return ever;
}

void Rewriter::visit_region(RegionId region) {
  RegionId outer = region_;
  region_ = region;
  std::vector<OpId> ops = std::move(module_.region(region).ops);
  module_.region(region).ops.clear();
  for (OpId op : ops) visit(op);
  region_ = outer;
}

void Rewriter::visit(OpId id) {
  TW_CHECK(++depth_ < kMaxDepth, "rewrite rules undo each other");
  for (ValueId& operand : module_.op(id).operands) operand = resolve(operand);
  bool replaced = apply_rules(id, false);
  if (!replaced) {
    for (size_t i = 0; i < module_.op(id).regions.size(); ++i)
      visit_region(module_.op(id).regions[i]);
    replaced = !module_.op(id).regions.empty() && apply_rules(id, true);
  }
  if (replaced) {
    module_.op(id).parent = {};
  } else {
    module_.op(id).parent = region_;
    module_.region(region_).ops.push_back(id);
  }
  --depth_;
}

bool Rewriter::apply_rules(OpId id, bool after_regions) {
  const std::vector<int>& candidates = rules_of_[static_cast<size_t>(module_.op(id).op)];
  if (candidates.empty()) return false;
  OpNode node = module_.op(id);
  Span outer_span = std::exchange(span_, node.span);
  bool replaced = false;
  for (int index : candidates) {
    if (rules_[index]->after_regions != after_regions) continue;
    Replacement values = rules_[index]->apply(*this, id, node);
    if (!values) continue;
    TW_CHECK(values->size() == node.results.size(),
             std::string(rules_[index]->name) + " does not replace every result");
    for (size_t i = 0; i < values->size(); ++i) replace(node.results[i], (*values)[i]);
    ++hits_[index];
    changed_ = replaced = true;
    break;
  }
  span_ = outer_span;
  return replaced;
}

void Rewriter::replace(ValueId from, ValueId to) {
  to = resolve(to);
  if (from == to) return;
  TW_CHECK(module_.type(from) == module_.type(to), "a rewrite changes a type");
  if (replacement_.size() <= from.index) replacement_.resize(module_.value_count());
  replacement_[from.index] = to;
  // A new value takes over the name of what it stands for.
  const OpNode* def = module_.def(to);
  if (def && def->op != ir::Op::Const && module_.value(to).name.empty() && module_.def(from))
    module_.value(to).name = module_.value(from).name;
}

void Rewriter::replace_argument(ValueId argument, ValueId by) {
  replace(argument, by);
  changed_ = true;
}

ValueId Rewriter::resolve(ValueId id) {
  ValueId at = id;
  while (at.index < replacement_.size() && replacement_[at.index].valid())
    at = replacement_[at.index];
  // Shorten the path for the next time.
  while (id != at) {
    ValueId next = replacement_[id.index];
    replacement_[id.index] = at;
    id = next;
  }
  return at;
}

const OpNode* Rewriter::def_as(ValueId id, ir::Op op) {
  const OpNode* def = module_.def(id);
  return def && def->op == op ? def : nullptr;
}

std::optional<uint64_t> Rewriter::constant(ValueId id) {
  const OpNode* def = def_as(id, ir::Op::Const);
  if (def == nullptr) return std::nullopt;
  return constant_bits(*def->attrs.find("value"), module_.type(id));
}

ValueId Rewriter::make(ir::Op op, std::vector<ValueId> operands, ir::Attrs attrs) {
  auto types = ir::infer_types(module_, op, operands, attrs, {});
  TW_CHECK(types.ok() && types->size() == 1, "a rewrite makes an ill-typed op");
  return make_op(op, std::move(operands), std::move(attrs), *types)[0];
}

ValueId Rewriter::make_as(ir::Op op, ir::Type type, std::vector<ValueId> operands,
                          ir::Attrs attrs) {
  return make_op(op, std::move(operands), std::move(attrs), {std::move(type)})[0];
}

std::vector<ValueId> Rewriter::make_op(ir::Op op, std::vector<ValueId> operands, ir::Attrs attrs,
                                       const std::vector<ir::Type>& types) {
  OpId id = module_.add_op(op, span_, std::move(operands), std::move(attrs), types);
  visit(id);
  std::vector<ValueId> results = module_.op(id).results;
  for (ValueId& result : results) result = resolve(result);
  return results;
}

std::vector<ValueId> Rewriter::make_with_regions(ir::Op op, std::vector<ValueId> operands,
                                                 ir::Attrs attrs,
                                                 const std::vector<ir::Type>& types,
                                                 const std::vector<RegionId>& regions) {
  OpId id = module_.add_op(op, span_, std::move(operands), std::move(attrs), types);
  module_.op(id).regions = regions;
  for (RegionId region : regions) module_.region(region).parent = id;
  module_.append(region_, id);
  return module_.op(id).results;
}

ValueId Rewriter::make_constant(const ir::Type& type, uint64_t bits) {
  auto value = constant_value(bits, type);
  if (!value) return {};
  return make_as(ir::Op::Const, type, {}, {{"value", std::move(*value)}});
}

std::vector<ValueId> Rewriter::inline_region(RegionId region, std::span<const ValueId> arguments) {
  const std::vector<ValueId> args = module_.region(region).args;
  TW_CHECK(args.size() == arguments.size(), "a region is inlined with other arguments");
  for (size_t i = 0; i < args.size(); ++i) replace(args[i], arguments[i]);
  std::vector<OpId> ops = std::move(module_.region(region).ops);
  module_.region(region).ops.clear();
  TW_CHECK(!ops.empty(), "a region without a terminator");
  for (size_t i = 0; i + 1 < ops.size(); ++i) visit(ops[i]);
  std::vector<ValueId> passed = module_.op(ops.back()).operands;
  for (ValueId& value : passed) value = resolve(value);
  return passed;
}

}  // namespace tilewright::passes
