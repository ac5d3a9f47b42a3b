// Sources and shape ops. Most shape ops give another view of the operand's registers and no text.
#include <fmt/format.h>

#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using ir::ValueId;

// The operand's registers under the result's type and layout.
void define_same_registers(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View view = e.use(id, 0);
  if (e.module.type(op.results[0]).is_scalar() && !view.uniform)  // a tile of one element
    return e.define_each(op.results[0], true, [&](const std::string&) { return view.value("0"); });
  view.type = e.module.type(op.results[0]);
  view.layout = e.layout_of(op.results[0]);
  e.define(op.results[0], std::move(view));
}

// to[register] = from[register], pair by pair.
void assign_registers(Emitter& e, const View& to, const std::vector<uint32_t>& to_registers,
                      const View& from, const std::vector<uint32_t>& from_registers) {
  std::vector<std::vector<uint32_t>> tables = {to.indices(to_registers)};
  from.add_indices(tables, from_registers);
  e.each(tables, [&](const std::vector<std::string>& i) {
    return fmt::format("{} = {};", to.element(i[0]), from.value(i, 1));
  });
}

// A view of registers `columns` (by register bit of the result) of `source`.
View renamed(const View& source, const std::vector<uint32_t>& columns) {
  View view = source;
  if (source.uniform) return view;
  view.columns = source.indices(columns);
  for (View& offset : view.more) offset = renamed(offset, columns);
  return view;
}

}  // namespace

// ---- sources ----

void emit_Const(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const ir::Type& type = e.module.type(op.results[0]);
  const ir::AttrValue* value = op.attrs.find("value");
  TW_CHECK(value, "a constant has a value");
  const auto* integer = std::get_if<int64_t>(value);
  std::string text;
  if (type.is_pointer)
    text = int_literal(Dtype::kU64, integer ? *integer : 0);
  else if (is_float(type.dtype))
    text = float_literal(type.dtype,
                         integer ? static_cast<double>(*integer) : std::get<double>(*value));
  else
    text = int_literal(type.dtype,
                       integer ? *integer : static_cast<int64_t>(std::get<double>(*value)));
  e.define(op.results[0],
           View{.type = type, .layout = e.layout_of(op.results[0]), .name = text, .uniform = true});
}

void emit_ProgramId(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  e.define_each(op.results[0], true, [&](const std::string&) {
    return fmt::format("tw_block_id({})", op.attrs.get_int("axis"));
  });
}

void emit_NumPrograms(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  e.define_each(op.results[0], true, [&](const std::string&) {
    return fmt::format("tw_grid_dim({})", op.attrs.get_int("axis"));
  });
}

void emit_Arange(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const layout::LinearLayout& layout = e.layout_of(op.results[0]);
  int64_t start = op.attrs.get_int("start");
  std::string at = e.thread_map(layout.lane, layout.warp);
  uint32_t fixed = reach(layout.lane) | reach(layout.warp);
  e.define_each(op.results[0], false, [&](const std::string& i) {
    std::string own = linear_expression({{i, layout.reg}});
    if (i == "0" || own == "0") own.clear();
    bool meets = (fixed & reach(layout.reg)) != 0;
    std::string text = at;
    if (!own.empty())
      text = at.empty() ? own : meets ? "(" + at + " ^ " + paren(own) + ")" : at + " + " + own;
    if (start != 0)
      text = text.empty() ? std::to_string(start) : fmt::format("{} + ({})", text, start);
    return text.empty() ? std::string("0") : fmt::format("(i32)({})", text);
  });
}

// ---- shape ----

void emit_Splat(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View view = e.view(op.operands[0]);
  view.type = e.module.type(op.results[0]);
  view.layout = e.layout_of(op.results[0]);
  e.define(op.results[0], std::move(view));
}

void emit_Broadcast(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View source = e.use(id, 0);
  const layout::LinearLayout& layout = e.layout_of(op.results[0]);
  View view = source;
  if (!source.uniform) {
    std::vector<int> registers = layout::broadcast_registers(layout, source.type.shape);
    std::vector<uint32_t> columns;
    for (size_t bit = 1; bit < registers.size(); bit *= 2)
      columns.push_back(static_cast<uint32_t>(registers[bit]));
    view = renamed(source, columns);
  }
  view.type = e.module.type(op.results[0]);
  view.layout = layout;
  e.define(op.results[0], std::move(view));
}

void emit_ExpandDims(Emitter& e, ir::OpId id) {
  define_same_registers(e, id);
}
void emit_Reshape(Emitter& e, ir::OpId id) {
  define_same_registers(e, id);
}
void emit_Permute(Emitter& e, ir::OpId id) {
  define_same_registers(e, id);
}

namespace {

// The two operands side by side in the registers of the result: where the bit `selector` of the
// register number is set, b.
void define_pair(Emitter& e, ir::OpId id, int selector) {
  const OpNode& op = e.module.op(id);
  View a = e.use(id, 0), b = e.use(id, 1);
  const ir::Type& type = e.module.type(op.results[0]);
  View view = e.declare(type, e.layout_of(op.results[0]), e.name_for(op.results[0]));
  uint32_t low = (1u << selector) - 1;
  for (int side = 0; side < 2; ++side) {
    const View& source = side == 0 ? a : b;
    std::vector<uint32_t> to, from;
    for (uint32_t r = 0; r < static_cast<uint32_t>(view.registers()) / 2; ++r) {
      to.push_back((r & low) | (r & ~low) << 1 | static_cast<uint32_t>(side) << selector);
      from.push_back(r);
    }
    assign_registers(e, view, to, source, from);
  }
  e.define(op.results[0], std::move(view));
}

}  // namespace

void emit_Join(Emitter& e, ir::OpId id) {
  define_pair(e, id, 0);
}

void emit_Cat(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  int bits = static_cast<int>(e.layout_of(op.results[0]).reg.size());
  define_pair(e, id, bits - 1);
}

void emit_Split(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View source = e.use(id, 0);
  for (uint32_t side = 0; side < 2; ++side) {
    ValueId result = op.results[side];
    const ir::Type& type = e.module.type(result);
    if (source.uniform) {
      View view = source;
      view.type = type;
      view.layout = e.layout_of(result);
      e.define(result, std::move(view));
    } else {
      View view = e.declare(type, e.layout_of(result), e.name_for(result));
      std::vector<uint32_t> to, from;
      for (uint32_t r = 0; r < static_cast<uint32_t>(view.registers()); ++r) {
        to.push_back(r);
        from.push_back(2 * r + side);
      }
      assign_registers(e, view, to, source, from);
      e.define(result, std::move(view));
    }
  }
}

}  // namespace tilewright::cuda
