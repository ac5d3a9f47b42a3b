// Structured control flow. Carried values are mutable variables (arrays) declared before the loop,
// assigned in place at the end of the body; SSA values of the body are constants inside it.
//
// Carried tiles of pointers whose every step is a uniform offset, which is how kernels walk along
// K, carry the uniform base alone: the element offsets are those of before the loop.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emit_rotation.h"
#include "codegen/cuda/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

// True if every element is surely the same (and the emitter holds it as one scalar).
bool is_uniform(const ir::Module& module, ValueId value) {
  if (module.type(value).is_scalar()) return true;
  const OpNode* def = module.def(value);
  if (!def) return false;
  switch (def->op) {
    case Op::Splat:
    case Op::Const:
      return true;
    case Op::Broadcast:
    case Op::ExpandDims:
    case Op::Reshape:
    case Op::Permute:
    case Op::Hint:
      return is_uniform(module, def->operands[0]);
    default:
      return false;
  }
}

// True if `value` is `start` moved by uniform offsets only.
bool is_uniform_walk(const ir::Module& module, ValueId value, ValueId start) {
  while (value != start) {
    const OpNode* def = module.def(value);
    if (!def) return false;
    if (def->op == Op::PtrAdd) {
      if (!is_uniform(module, def->operands[1])) return false;
      value = def->operands[0];
    } else if (def->op == Op::Hint) {
      value = def->operands[0];
    } else if (def->op == Op::For) {
      size_t index = module.value(value).position;
      const ir::Region& body = module.region(def->regions[0]);
      ValueId yielded = module.op(body.ops.back()).operands[index];
      if (!is_uniform_walk(module, yielded, body.args[index + 1])) return false;
      value = def->operands[index + 3];
    } else {
      return false;
    }
  }
  return true;
}

// A variable that holds a carried value from now on.
View declare_carried(Emitter& e, ValueId result, const View& init) {
  const ir::Type& type = e.module.type(result);
  const layout::LinearLayout& layout = e.layout_of(result);
  std::string name = e.name_for(result);
  if (init.name.empty()) return e.declare(type, layout, name);
  if (type.is_tile() && layout.registers() > 1) {
    View view = e.declare(type, layout, name);
    e.assign(view, init);
    return view;
  }
  e.out.line(fmt::format("{} {} = {};", type_name(type), name, init.value("0")));
  return View{.type = type, .layout = layout, .name = name, .uniform = type.is_scalar()};
}

bool names_one_of(const std::vector<View>& views, size_t except, const View& view) {
  for (size_t i = 0; i < views.size(); ++i) {
    if (i == except) continue;
    if (view.name == views[i].name || (!view.base.empty() && view.base == views[i].name) ||
        (!views[i].base.empty() && (view.name == views[i].base || view.base == views[i].base)))
      return true;
  }
  return false;
}

View copy(Emitter& e, const View& view) {
  View copied = e.make_each(view.type, view.layout, e.fresh("next"), view.uniform,
                            [&](const std::string& i) { return view.value(i); });
  return copied;
}

// A pointer view that walks: only the part that moves is a variable.
bool walks(const View& to) {
  return to.type.is_pointer && to.type.is_tile() && (!to.base.empty() || to.uniform);
}
const std::string& moving_part(const View& view) {
  return view.base.empty() ? view.name : view.base;
}

// to[i] = from[i], all at once: a source that is itself one of the targets is copied first.
void assign_all(Emitter& e, const std::vector<View>& to, std::vector<View> from) {
  for (size_t i = 0; i < to.size(); ++i) {
    if (walks(to[i])) {
      View moving{.type = ir::Type::pointer(to[i].type.dtype),
                  .name = moving_part(from[i]),
                  .uniform = true};
      if (names_one_of(to, i, moving)) from[i] = copy(e, moving);
    } else if (names_one_of(to, i, from[i]) ||
               (from[i].name == to[i].name && !from[i].is_plain() && !from[i].uniform)) {
      from[i] = copy(e, from[i]);
    }
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (walks(to[i])) {
      if (moving_part(from[i]) != moving_part(to[i]))
        e.out.line(fmt::format("{} = {};", moving_part(to[i]), moving_part(from[i])));
    } else if (from[i].name != to[i].name || from[i].is_array != to[i].is_array ||
               from[i].base != to[i].base) {
      e.assign(to[i], from[i]);
    }
  }
}

std::vector<View> used_views(Emitter& e, ir::OpId id, size_t first) {
  std::vector<View> views;
  for (size_t i = first; i < e.module.op(id).operands.size(); ++i)
    views.push_back(e.use(id, static_cast<int>(i)));
  return views;
}

// The carried variable of a for loop's result number i.
View carried_variable(Emitter& e, const OpNode& op, const ir::Region& body, size_t i, View init) {
  ValueId result = op.results[i];
  ValueId yielded = e.module.op(body.ops.back()).operands[i];
  bool walking = init.type.is_pointer && init.type.is_tile() &&
                 is_uniform_walk(e.module, yielded, body.args[i + 1]);
  if (!walking) return declare_carried(e, result, init);
  std::string name = e.name_for(result);
  std::string start = init.uniform ? init.name : init.base.empty() ? "0" : init.base;
  e.out.line(fmt::format("u64 {} = {};", name, start));
  (init.uniform ? init.name : init.base) = name;
  return init;
}

// Reads of shared memory that may be in flight at the start of a loop body are those before the
// loop and those of the iteration before.
class SharedState {
 public:
  explicit SharedState(Emitter& e) : e_(e), before_(e.shared_read_pending), uses_(e.shared_uses) {
    e.shared_read_pending = true;
  }
  void leave_loop() { e_.shared_read_pending = e_.shared_uses != uses_ || before_; }

 private:
  Emitter& e_;
  bool before_;
  int uses_;
};

}  // namespace

void emit_For(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const ir::Region& body = e.module.region(op.regions[0]);
  std::vector<View> init = used_views(e, id, 3), carried;
  for (size_t i = 0; i < init.size(); ++i)
    carried.push_back(carried_variable(e, op, body, i, init[i]));

  std::string lo = e.view(op.operands[0]).name, hi = e.view(op.operands[1]).name;
  std::string step = e.view(op.operands[2]).name;
  std::string type = type_name(e.module.type(op.operands[0])), variable = e.name_for(body.args[0]);
  const OpNode* constant = e.module.def(op.operands[2]);
  bool is_constant = constant && constant->op == Op::Const;
  bool down = is_constant && constant->attrs.get_int("value") < 0;
  if (!is_constant) e.out.line(fmt::format("if ({} <= 0) tw_trap();", step));
  // Steps of one cannot overshoot; longer ones might leave the type near its limit.
  bool single = is_constant && std::abs(constant->attrs.get_int("value")) == 1;
  std::string next = single ? fmt::format("{} {}= 1", variable, down ? "-" : "+")
                            : fmt::format("{} = tw_next({}, {}, {})", variable, variable, step, hi);
  std::string compare = down ? ">" : "<";
  Rotation* outer = e.rotation;
  std::optional<Rotation> rotation = plan_rotation(e, id);
  if (rotation) {
    rotation->exists = fmt::format("{} {} {}", lo, compare, hi);
    rotation->more = fmt::format("{} {} {}",
                                 single ? fmt::format("{} {} 1", variable, down ? "-" : "+")
                                        : fmt::format("tw_next({}, {}, {})", variable, step, hi),
                                 compare, hi);
    if (!open_rotation(e, *rotation, carried)) rotation.reset();
  }
  // tl.range(loop_unroll_factor=).
  int64_t unroll = op.attrs.get_int("unroll", 1);
  e.out.line(unroll > 1 ? fmt::format("TW_UNROLL_BY({})", unroll) : "TW_NO_UNROLL");
  e.out.open(fmt::format("for ({} {} = {}; {} {} {}; {})", type, variable, lo, variable, compare,
                         hi, next));
  SharedState shared(e);
  e.define(
      body.args[0],
      View{.type = e.module.type(body.args[0]), .layout = {}, .name = variable, .uniform = true});
  for (size_t i = 0; i < carried.size(); ++i) e.define(body.args[i + 1], carried[i]);
  ir::OpId terminator = e.emit_region(op.regions[0], rotation ? &rotation->order : nullptr);
  assign_all(e, carried, used_views(e, terminator, 0));
  e.out.close();
  shared.leave_loop();
  e.rotation = outer;
  for (size_t i = 0; i < carried.size(); ++i) e.define(op.results[i], carried[i]);
}

void emit_While(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const ir::Region& before = e.module.region(op.regions[0]);
  const ir::Region& body = e.module.region(op.regions[1]);
  const OpNode& condition = e.module.op(before.ops.back());
  std::vector<View> init = used_views(e, id, 0), carried, passed;
  for (size_t i = 0; i < init.size(); ++i)
    carried.push_back(declare_carried(e, op.results[i], init[i]));
  // What the condition passes on is mostly the carried value itself; else it gets a variable.
  for (size_t i = 0; i < carried.size(); ++i) {
    bool same = condition.operands[i + 1] == before.args[i];
    passed.push_back(same ? carried[i] : declare_carried(e, body.args[i], View{}));
  }
  e.out.open("while (true)");
  SharedState shared(e);
  for (size_t i = 0; i < carried.size(); ++i) e.define(before.args[i], carried[i]);
  ir::OpId terminator = e.emit_region(op.regions[0]);
  std::vector<View> forwarded = used_views(e, terminator, 1);
  std::string cond = e.view(condition.operands[0]).name;
  assign_all(e, passed, forwarded);
  e.out.line(fmt::format("if (!{}) break;", cond));
  for (size_t i = 0; i < carried.size(); ++i) e.define(body.args[i], passed[i]);
  terminator = e.emit_region(op.regions[1]);
  assign_all(e, carried, used_views(e, terminator, 0));
  e.out.close();
  shared.leave_loop();
  for (size_t i = 0; i < carried.size(); ++i) e.define(op.results[i], passed[i]);
}

void emit_If(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  std::vector<View> results;
  for (ValueId result : op.results) results.push_back(declare_carried(e, result, View{}));
  e.out.open(fmt::format("if ({})", e.view(op.operands[0]).name));
  bool pending_before = e.shared_read_pending;
  ir::OpId terminator = e.emit_region(op.regions[0]);
  assign_all(e, results, used_views(e, terminator, 0));
  bool pending_then = e.shared_read_pending;
  e.shared_read_pending = pending_before;
  bool has_else = !results.empty() || e.module.region(op.regions[1]).ops.size() > 1;
  if (has_else) {
    e.out.close("} else {");
    e.out.indent();
    terminator = e.emit_region(op.regions[1]);
    assign_all(e, results, used_views(e, terminator, 0));
  }
  e.out.close();
  e.shared_read_pending = e.shared_read_pending || pending_then;
  for (size_t i = 0; i < results.size(); ++i) e.define(op.results[i], results[i]);
}

// Terminators are read by the op that owns the region.
void emit_Yield(Emitter&, ir::OpId) {
  TW_UNREACHABLE("yield is emitted by its owner");
}
void emit_Condition(Emitter&, ir::OpId) {
  TW_UNREACHABLE("condition is emitted by its owner");
}
void emit_Return(Emitter&, ir::OpId) {
  TW_UNREACHABLE("return is emitted by its owner");
}

}  // namespace tilewright::cuda
