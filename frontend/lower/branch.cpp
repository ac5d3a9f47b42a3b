// Run-time `if`: each branch is lowered into a region on a copy of the scope, and the variables
// that differ at the ends become results of the `if` op. When a branch returns, the rest of the
// function is lowered into both branches instead, and the results are what the function returns:
//
//   if c: return        if %c { yield } { REST; yield }
//   REST
#include <fmt/format.h>

#include <deque>

#include "dsl/base/check.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Stmt;
using dsl::StmtKind;
using Kind = Value::Kind;

bool same_block_type(const Lowering& lw, const BlockPointer& a, const BlockPointer& b) {
  if (a.block != b.block || a.dtype != b.dtype || a.is_descriptor != b.is_descriptor ||
      a.pad_nan != b.pad_nan || a.offsets.size() != b.offsets.size())
    return false;
  for (size_t i = 0; i < a.offsets.size(); ++i)
    if (lw.module.type(a.offsets[i]) != lw.module.type(b.offsets[i])) return false;
  return true;
}

}  // namespace

bool Lowering::collect_like(const Value& like, const Value& value,
                            std::vector<ir::ValueId>& out) const {
  if (like.kind != value.kind) return false;
  switch (like.kind) {
    case Kind::kTensor:
      if (like.type != value.type) return false;
      out.push_back(value.id);
      return true;
    case Kind::kTuple:
      if (like.elements.size() != value.elements.size()) return false;
      for (size_t i = 0; i < like.elements.size(); ++i)
        if (!collect_like(like.elements[i], value.elements[i], out)) return false;
      return true;
    case Kind::kBlockPointer:
      if (!same_block_type(*this, *like.block, *value.block)) return false;
      flatten(value, out);
      return true;
    default:
      return same_value(like, value);
  }
}

bool Lowering::merge(Value& out, const Value& a, const Value& b, ir::RegionId region_a,
                     ir::RegionId region_b, std::vector<ir::ValueId>& yield_a,
                     std::vector<ir::ValueId>& yield_b) {
  if (a.is_error() || b.is_error()) {
    out = Value::error();
    return true;
  }
  if (a.kind == Kind::kTuple && b.kind == Kind::kTuple && a.elements.size() == b.elements.size()) {
    out = a;
    for (size_t i = 0; i < a.elements.size(); ++i)
      if (!merge(out.elements[i], a.elements[i], b.elements[i], region_a, region_b, yield_a,
                 yield_b))
        return false;
    return true;
  }
  Value x = a, y = b;
  // Constants stay constants where both sides agree, and become tensors where they differ.
  if (!same_value(a, b)) {
    if (a.is_number()) x = in_region(region_a, [&] { return to_tensor(a, builder.span()); });
    if (b.is_number()) y = in_region(region_b, [&] { return to_tensor(b, builder.span()); });
  } else if (!a.is_tensor() && a.kind != Kind::kBlockPointer) {
    out = a;
    return true;
  }
  std::vector<ir::ValueId> parts;
  if (!collect_like(x, y, parts)) return false;
  yield_b.insert(yield_b.end(), parts.begin(), parts.end());
  flatten(x, yield_a);
  out = x;
  return true;
}

std::vector<ir::ValueId> Lowering::attach(ir::Op op, std::vector<ir::ValueId> operands,
                                          ir::Attrs attrs, const std::vector<ir::Type>& types,
                                          std::vector<ir::RegionId> regions, Span span) {
  SpanScope at(*this, span);
  ir::OpId id = builder.make_op(op, std::move(operands), std::move(attrs), types);
  for (ir::RegionId region : regions) module.region(region).parent = id;
  module.op(id).regions = std::move(regions);
  return module.op(id).results;
}

namespace {

// Two branches of one `if` being put together.
struct Branches {
  ir::RegionId regions[2];
  Scope scopes[2];
  std::vector<ir::ValueId> yields[2];
  // Names whose value comes out of the op, with the value in terms of the first branch.
  std::vector<std::pair<std::string, Value>> results;
};

void merge_name(Lowering& lw, Branches& branches, const std::string& name, const Stmt* stmt,
                const Binding* before) {
  const Binding *a = branches.scopes[0].find(name), *b = branches.scopes[1].find(name);
  Value merged;
  std::vector<ir::ValueId> yields[2];
  if (lw.merge(merged, a->value, b->value, branches.regions[0], branches.regions[1], yields[0],
               yields[1])) {
    for (int i = 0; i < 2; ++i)
      branches.yields[i].insert(branches.yields[i].end(), yields[i].begin(), yields[i].end());
    branches.results.emplace_back(name, std::move(merged));
    return;
  }
  std::vector<DiagNote> notes;
  for (const Binding* binding : {a, b})
    notes.push_back(
        {binding->span, fmt::format("here '{}' is {}", name, describe(binding->value))});
  bool first_changed = !before || a->span != before->span;
  lw.fail(
      DiagKind::kTypeMismatchBranch, first_changed ? a->span : b->span,
      fmt::format("'{}' is {} after one branch of the run-time 'if' at line {} and {} after the "
                  "other",
                  name, describe(a->value),
                  lw.program.sources().file(stmt->span.file).locate(stmt->span.begin).line,
                  describe(b->value)),
      std::move(notes));
  branches.results.emplace_back(name, Value::error());
}

}  // namespace

bool Lowering::lower_if(const Stmt* stmt, const Condition& condition) {
  Scope before = frame().scope;
  Branches branches;
  for (int i = 0; i < 2; ++i) {
    branches.regions[i] = module.add_region({});
    frame().scope = before;
    in_region(branches.regions[i], [&] { lower_block(i == 0 ? stmt->body : stmt->orelse); });
    branches.scopes[i] = std::move(frame().scope);
    if (frame().return_seen) {
      // The regions made so far belong to no op and vanish with compact().
      frame().return_seen = false;
      frame().scope = std::move(before);
      return false;
    }
  }
  Scope after = before;
  for (auto& [name, binding] : branches.scopes[0].names) {
    const Binding *other = branches.scopes[1].find(name), *old = before.find(name);
    if (!other) {
      after.ended[name] = binding.span;
    } else if (same_value(binding.value, other->value)) {
      after.names[name] = old && same_value(old->value, binding.value) ? *old : binding;
    } else {
      merge_name(*this, branches, name, stmt, old);
      after.names[name] = old && old->span == binding.span ? *other : binding;
      after.names[name].declared = false;
    }
  }
  for (auto& [name, binding] : branches.scopes[1].names)
    if (!branches.scopes[0].find(name)) after.ended[name] = binding.span;
  std::vector<ir::Type> types;
  for (ir::ValueId id : branches.yields[0]) types.push_back(module.type(id));
  for (int i = 0; i < 2; ++i)
    in_region(branches.regions[i], [&] { builder.yield(branches.yields[i]); });
  auto ids = attach(ir::Op::If, {condition.value}, {}, types,
                    {branches.regions[0], branches.regions[1]}, stmt->span);
  size_t position = 0;
  for (auto& [name, value] : branches.results) {
    Value result = unflatten(value, ids, position);
    set_name_hint(result, name);
    after.names[name].value = std::move(result);
  }
  frame().scope = std::move(after);
  return true;
}

Lowering::Returned Lowering::lower_if_to_return(const Stmt* stmt, const Condition& condition,
                                                const Continuation& rest) {
  Scope before = frame().scope;
  ir::RegionId regions[2];
  Returned returned[2];
  for (int i = 0; i < 2; ++i) {
    regions[i] = module.add_region({});
    frame().scope = before;
    returned[i] = in_region(regions[i], [&] {
      return lower_to_return({i == 0 ? &stmt->body : &stmt->orelse, 0, &rest});
    });
  }
  frame().scope = std::move(before);
  std::vector<ir::ValueId> yields[2];
  Value merged;
  if (!merge(merged, returned[0].value, returned[1].value, regions[0], regions[1], yields[0],
             yields[1])) {
    fail(DiagKind::kTypeMismatchReturn, returned[0].span,
         fmt::format("'{}' returns {} here and {} elsewhere; all returns must have one type",
                     frame().function->name, describe(returned[0].value),
                     describe(returned[1].value)),
         {{returned[1].span, "the other return gives " + describe(returned[1].value)}});
    yields[0].clear();
    yields[1].clear();
    merged = Value::error();
  }
  std::vector<ir::Type> types;
  for (ir::ValueId id : yields[0]) types.push_back(module.type(id));
  for (int i = 0; i < 2; ++i) in_region(regions[i], [&] { builder.yield(yields[i]); });
  auto ids = attach(ir::Op::If, {condition.value}, {}, types, {regions[0], regions[1]}, stmt->span);
  size_t position = 0;
  return {unflatten(merged, ids, position), returned[0].span};
}

Lowering::Returned Lowering::lower_to_return(const Continuation& at) {
  std::deque<Continuation> pending;  // where to go on after a compile-time branch
  Continuation current = at;
  while (!gave_up_) {
    if (current.index == current.statements->size()) {
      if (!current.next) break;
      current = Continuation(*current.next);
      continue;
    }
    const Stmt* stmt = (*current.statements)[current.index++];
    if (stmt->kind == StmtKind::kReturn) {
      SpanScope span(*this, stmt->span);
      Value value = stmt->value ? eval(stmt->value) : Value::none();
      if (frame().is_kernel && !value.is_none() && !value.is_error())
        value = fail(DiagKind::kUnsupportedSyntax, stmt->value->span,
                     "a kernel cannot return a value; store it through a pointer");
      return {std::move(value), stmt->span};
    }
    bool may_return = stmt->kind == StmtKind::kIf &&
                      (contains_return(stmt->body) || contains_return(stmt->orelse));
    if (!may_return) {
      lower_statement(stmt);
      continue;
    }
    Condition test = condition(eval(stmt->value), stmt->value->span, "'if'");
    if (!test.ok) return {Value::error(), stmt->span};
    if (test.constant) {
      pending.push_back(current);
      current = {*test.constant ? &stmt->body : &stmt->orelse, 0, &pending.back()};
      continue;
    }
    // A return may sit in a compile-time branch that is not taken: try without first.
    if (!lower_if(stmt, test)) return lower_if_to_return(stmt, test, current);
  }
  return {Value::none(), frame().function->name_span};
}

}  // namespace tilewright::frontend
