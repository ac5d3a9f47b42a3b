// Loops. The variables carried around a loop are those that exist before it and that its body may
// assign; they must keep their type. What turns out unchanged is taken out of the loop again.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/base/check.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Stmt;
using Kind = Value::Kind;

// One variable carried around a loop.
struct Carried {
  std::string name;
  Value before;  // value before the loop
  Span span;     // where that was bound
  Value inside;  // value at the start of the body, in terms of region arguments
};

// Number constants that the body changes become tensors before the loop; which ones is known only
// after a first try, because a compile-time branch may keep the assignment from happening.
using Decayed = std::set<std::string>;

class LoopState {
 public:
  LoopState(Lowering& lw, const Stmt* stmt, std::string target, Decayed decayed)
      : lw_(lw), stmt_(stmt), before_(lw.frame().scope), first_op_(lw.module.op_count()) {
    for (const std::string& name : assigned_names(stmt->body)) {
      const Binding* binding = before_.find(name);
      if (!binding || name == target) continue;
      Value value = binding->value;
      if (value.is_number() && decayed.contains(name)) value = lw.to_tensor(value, binding->span);
      carried_.push_back({name, value, binding->span, value});
      flatten(value, init_);
    }
  }

  const std::vector<ir::ValueId>& init() const { return init_; }

  // Adds an argument for each run-time part to the region and enters the body's scope.
  void enter(ir::RegionId region) {
    std::vector<ir::ValueId> args;
    for (ir::ValueId id : init_)
      args.push_back(
          lw_.module.add_region_arg(region, lw_.module.type(id), lw_.module.value(id).name));
    size_t position = 0;
    for (Carried& variable : carried_) {
      variable.inside = unflatten(variable.before, args, position);
      lw_.frame().scope.names[variable.name].value = variable.inside;
      lw_.set_name_hint(variable.inside, variable.name);
    }
    args_ = std::move(args);
  }

  // What the body leaves in the carried variables. Reports variables that changed their type, and
  // collects constants that changed.
  std::vector<ir::ValueId> leave(Decayed& changed_constants) {
    std::vector<ir::ValueId> next;
    for (Carried& variable : carried_) {
      const Binding& after = lw_.frame().scope.names[variable.name];
      std::vector<ir::ValueId> parts;
      if (after.value.is_error() || variable.inside.is_error() ||
          !lw_.collect_like(variable.inside, after.value, parts)) {
        parts.clear();
        flatten(variable.inside, parts);
        if (after.value.is_error() || variable.inside.is_error())
          failed_.insert(variable.name);
        else if (variable.before.is_number() && !before_.find(variable.name)->declared)
          changed_constants.insert(variable.name);
        else
          report(variable, after);
      }
      next.insert(next.end(), parts.begin(), parts.end());
    }
    return next;
  }

  // Drops region arguments that the body passes on unchanged, from all lists in parallel.
  void drop_unchanged(std::vector<ir::RegionId> regions, std::vector<ir::ValueId>& next,
                      std::vector<std::vector<ir::ValueId>>& args) {
    kept_.assign(init_.size(), true);
    for (size_t i = 0; i < init_.size(); ++i) {
      if (next[i] != args.back()[i]) continue;
      kept_[i] = false;
      for (auto& list : args) replaced_[list[i]] = init_[i];
    }
    // Only ops made since the loop was entered can use its arguments.
    for (size_t i = first_op_; !replaced_.empty() && i < lw_.module.op_count(); ++i)
      for (ir::ValueId& operand : lw_.module.op({static_cast<uint32_t>(i)}).operands)
        operand = resolve(operand);
    for (size_t r = 0; r < regions.size(); ++r) {
      auto& region_args = lw_.module.region(regions[r]).args;
      for (size_t i = init_.size(); i-- > 0;)
        if (!kept_[i])
          region_args.erase(std::find(region_args.begin(), region_args.end(), args[r][i]));
      for (size_t i = 0; i < region_args.size(); ++i)
        lw_.module.value(region_args[i]).position = static_cast<uint32_t>(i);
    }
    std::vector<ir::ValueId> kept_next;
    for (size_t i = 0; i < next.size(); ++i) {
      if (!kept_[i]) continue;
      kept_next.push_back(resolve(next[i]));
    }
    next = std::move(kept_next);
  }

  // The outer value that a dropped argument stood for; other values unchanged.
  ir::ValueId resolve(ir::ValueId id) const {
    auto it = replaced_.find(id);
    return it == replaced_.end() ? id : it->second;
  }

  std::vector<ir::ValueId> kept_init() const {
    std::vector<ir::ValueId> out;
    for (size_t i = 0; i < init_.size(); ++i)
      if (kept_[i]) out.push_back(init_[i]);
    return out;
  }

  // The scope after the loop: carried variables are the op's results, new names have ended.
  void finish(const std::vector<ir::ValueId>& results, const std::string& target) {
    std::vector<ir::ValueId> all;
    size_t result = 0;
    for (size_t i = 0; i < init_.size(); ++i)
      all.push_back(kept_[i] ? results[result++] : init_[i]);
    Scope inner = std::move(lw_.frame().scope);
    lw_.frame().scope = before_;
    size_t position = 0;
    for (Carried& variable : carried_) {
      Value value = unflatten(variable.before, all, position);
      if (failed_.contains(variable.name)) value = Value::error();
      lw_.set_name_hint(value, variable.name);
      lw_.frame().scope.names[variable.name].value = std::move(value);
    }
    for (auto& [name, binding] : inner.names)
      if (!before_.find(name) && name != target) lw_.frame().scope.ended[name] = binding.span;
    if (!target.empty() && !before_.find(target)) lw_.frame().scope.ended[target] = stmt_->span;
  }

  void restore() { lw_.frame().scope = before_; }
  const std::vector<ir::ValueId>& args() const { return args_; }

 private:
  void report(const Carried& variable, const Binding& after) {
    failed_.insert(variable.name);
    if (before_.find(variable.name)->declared) {
      lw_.fail(DiagKind::kConstexprReassigned, after.span,
               fmt::format("'{}' is constexpr and cannot be assigned in a loop", variable.name),
               {{variable.span, fmt::format("'{}' is declared here", variable.name)}});
      return;
    }
    lw_.fail(
        DiagKind::kTypeMismatchLoop, after.span,
        fmt::format("'{}' is {} before the loop but {} at the end of its body; a variable "
                    "carried around a loop keeps its type",
                    variable.name, describe(variable.before), describe(after.value)),
        {{variable.span, fmt::format("'{}' gets its value before the loop here", variable.name)}});
  }

  Lowering& lw_;
  const Stmt* stmt_;
  Scope before_;
  size_t first_op_;
  std::vector<Carried> carried_;
  std::vector<ir::ValueId> init_, args_;
  std::vector<bool> kept_;
  std::map<ir::ValueId, ir::ValueId> replaced_;
  std::set<std::string> failed_;
};

struct Range {
  bool ok = false;
  Call call;
  Value bounds[3];  // start, end, step
  Span spans[3];
};

Range read_range(Lowering& lw, const Stmt* stmt) {
  Range range;
  const Expr* iterable = stmt->value;
  Value callee;
  if (iterable->kind == ExprKind::kCall) callee = lw.eval(iterable->children[0]);
  if (callee.kind != Kind::kBuiltin || callee.builtin->handler != "loop_range") {
    lw.fail(DiagKind::kUnsupportedSyntax, iterable->span,
            "a kernel loops over range, tl.range or tl.static_range only");
    return range;
  }
  bool ok = true;
  CallArguments arguments = lw.eval_arguments(iterable, ok);
  if (!ok) return range;
  auto call = lw.bind_builtin(*callee.builtin, std::move(arguments), iterable->span,
                              std::string(callee.builtin->name));
  if (!call) return range;
  range.call = std::move(*call);
  bool one = range.call.args[1].is_none();
  range.bounds[0] = one ? Value::integer(0) : range.call.args[0];
  range.bounds[1] = one ? range.call.args[0] : range.call.args[1];
  range.bounds[2] = range.call.args[2].is_none() ? Value::integer(1) : range.call.args[2];
  range.spans[0] = range.call.spans[0];
  range.spans[1] = one ? range.call.spans[0] : range.call.spans[1];
  range.spans[2] = range.call.spans[2];
  if (range.bounds[2].is_integer() && range.bounds[2].constant.integer == 0) {
    lw.fail(DiagKind::kBadArgument, range.spans[2], "the step of a loop cannot be 0");
    return range;
  }
  range.ok = true;
  return range;
}

void unroll(Lowering& lw, const Stmt* stmt, const Range& range) {
  int64_t bounds[3];
  for (int i = 0; i < 3; ++i) {
    if (!range.bounds[i].is_integer()) {
      lw.fail(DiagKind::kNotConstexpr, range.spans[i],
              fmt::format("tl.static_range needs compile-time integers, but this is {}",
                          describe(range.bounds[i])));
      return;
    }
    bounds[i] = range.bounds[i].constant.integer;
  }
  auto [lo, hi, step] = bounds;
  int64_t span = step > 0 ? hi - lo : lo - hi;
  int64_t count = span <= 0 ? 0 : (span - 1) / (step > 0 ? step : -step) + 1;
  if (count > lw.limits.unroll) {
    lw.fail(DiagKind::kKernelTooLarge, stmt->value->span,
            fmt::format("tl.static_range would unroll {} iterations, at most {} are allowed; use "
                        "tl.range",
                        count, lw.limits.unroll));
    return;
  }
  const Expr* target = stmt->targets[0];
  ++lw.frame().loop_depth;
  for (int64_t i = 0; i < count; ++i) {
    lw.frame().scope.names[target->text] = {Value::integer(lo + i * step), target->span, false,
                                            nullptr};
    lw.lower_block(stmt->body);
  }
  --lw.frame().loop_depth;
}

// The bounds as scalars of their common integer type.
bool lower_bounds(Lowering& lw, const Range& range, std::vector<ir::ValueId>& out) {
  Value values[3];
  Dtype dtype = Dtype::kI32;
  for (int i = 0; i < 3; ++i) {
    values[i] = lw.to_tensor(range.bounds[i], range.spans[i], "bound of a loop");
    if (values[i].is_error()) return false;
    if (values[i].type.is_pointer || !is_int(values[i].type.dtype) || values[i].type.is_tile()) {
      lw.fail(DiagKind::kTypeMismatch, range.spans[i],
              fmt::format("the bounds of a loop are scalar integers, but this is {}",
                          describe(values[i])));
      return false;
    }
    dtype = i == 0 ? values[i].type.dtype : promote_integers(dtype, values[i].type.dtype);
  }
  if (dtype == Dtype::kI1) dtype = Dtype::kI32;
  for (int i = 0; i < 3; ++i) out.push_back(lw.cast(values[i].id, dtype));
  // A negative step must stay a literal of the op; a cast constant would hide it.
  if (range.bounds[2].is_integer() && lw.module.def(out[2])->op != ir::Op::Const) {
    Value step = lw.constant_of(range.bounds[2].constant, ir::Type::scalar(dtype), range.spans[2]);
    if (step.is_error()) return false;
    out[2] = step.id;
  }
  return true;
}

ir::Attrs loop_attributes(Lowering& lw, const Range& range, bool& ok) {
  ir::Attrs attrs;
  if (range.call.builtin->name != "tl.range") return attrs;
  static constexpr std::pair<size_t, std::string_view> kOptions[] = {
      {3, "num_stages"}, {4, "unroll"}, {6, "flatten"}, {7, "warp_specialize"}};
  for (auto [index, key] : kOptions) {
    if (!range.call.given[index] || range.call.args[index].is_none()) continue;
    auto value = lw.constant_int(range.call, index);
    if (!value)
      ok = false;
    else if (*value != 0 || key == "num_stages")
      attrs.set(key, *value);
  }
  return attrs;
}

}  // namespace

void Lowering::lower_for(const Stmt* stmt) {
  const Expr* target = stmt->targets[0];
  if (target->kind != ExprKind::kName) {
    fail(DiagKind::kUnsupportedSyntax, target->span, "the variable of a loop must be one name");
    return;
  }
  if (!stmt->orelse.empty())
    fail(DiagKind::kUnsupportedSyntax, stmt->span, "'else' of a loop cannot be used in a kernel");
  Range range = read_range(*this, stmt);
  if (!range.ok) {
    for (const std::string& name : assigned_names({const_cast<Stmt*>(stmt)}))
      frame().scope.names[name] = {Value::error(), stmt->span, false, nullptr};
    return;
  }
  if (range.call.builtin->name == "tl.static_range") return unroll(*this, stmt, range);
  std::vector<ir::ValueId> operands;
  bool ok = true;
  ir::Attrs attrs = loop_attributes(*this, range, ok);
  if (!ok || !lower_bounds(*this, range, operands)) return;
  Decayed decayed;
  while (true) {
    LoopState state(*this, stmt, target->text, decayed);
    ir::RegionId body = module.add_region({});
    ir::Type index_type = module.type(operands[0]);
    ir::ValueId index = module.add_region_arg(body, index_type, target->text);
    state.enter(body);
    frame().scope.names[target->text] = {Value::tensor(index, index_type), target->span, false,
                                         nullptr};
    ++frame().loop_depth;
    in_region(body, [&] { lower_block(stmt->body); });
    --frame().loop_depth;
    size_t known = decayed.size();
    std::vector<ir::ValueId> next = state.leave(decayed);
    if (decayed.size() != known) {
      state.restore();
      continue;
    }
    std::vector<std::vector<ir::ValueId>> args = {state.args()};
    state.drop_unchanged({body}, next, args);
    in_region(body, [&] { builder.yield(next); });
    std::vector<ir::Type> types;
    for (ir::ValueId id : state.kept_init()) {
      operands.push_back(id);
      types.push_back(module.type(id));
    }
    auto results = attach(ir::Op::For, operands, attrs, types, {body}, stmt->span);
    return state.finish(results, target->text);
  }
}

void Lowering::lower_while(const Stmt* stmt) {
  if (!stmt->orelse.empty())
    fail(DiagKind::kUnsupportedSyntax, stmt->span, "'else' of a loop cannot be used in a kernel");
  Decayed decayed;
  while (true) {
    LoopState state(*this, stmt, "", decayed);
    ir::RegionId head = module.add_region({}), body = module.add_region({});
    state.enter(head);
    std::vector<std::vector<ir::ValueId>> args = {state.args()};
    Condition test = in_region(head, [&] {
      Condition c = condition(eval(stmt->value), stmt->value->span, "'while'");
      if (c.ok && c.constant)
        c.value = builder.constant_int(ir::Type::scalar(Dtype::kI1), *c.constant);
      return c;
    });
    if (!test.ok || test.constant == false) {
      state.restore();
      return;
    }
    state.enter(body);
    args.push_back(state.args());
    ++frame().loop_depth;
    in_region(body, [&] { lower_block(stmt->body); });
    --frame().loop_depth;
    size_t known = decayed.size();
    std::vector<ir::ValueId> next = state.leave(decayed);
    if (decayed.size() != known) {
      state.restore();
      continue;
    }
    state.drop_unchanged({head, body}, next, args);
    in_region(head, [&] {
      std::vector<ir::ValueId> passed = module.region(head).args;
      passed.insert(passed.begin(), state.resolve(test.value));
      builder.make_op(ir::Op::Condition, std::move(passed), {}, {});
    });
    in_region(body, [&] { builder.yield(next); });
    std::vector<ir::Type> types;
    for (ir::ValueId id : state.kept_init()) types.push_back(module.type(id));
    auto results = attach(ir::Op::While, state.kept_init(), {}, types, {head, body}, stmt->span);
    return state.finish(results, "");
  }
}

}  // namespace tilewright::frontend
