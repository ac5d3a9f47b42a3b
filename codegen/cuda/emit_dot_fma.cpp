// Matrix products without a tensor core: the operands lie row-major in shared memory, each thread
// multiplies its rows of A by its columns of B for one k at a time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emit_dot.h"
#include "codegen/cuda/emitter.h"
#include "codegen/layout/f2.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using layout::SharedAccess;

// Stores of a whole tile in row-major order: vectors of up to 16 bytes over the registers that hold
// consecutive elements.
SharedAccess row_major(const layout::LinearLayout& layout, int bytes) {
  SharedAccess access;
  layout::ReplicationMask copies = layout::replication_mask(layout);
  access.copy_lanes = copies.lane;
  access.copy_warps = copies.warp;
  auto scaled = [&](uint32_t basis) { return basis * static_cast<uint32_t>(bytes); };
  for (uint32_t basis : layout.lane) access.lane.push_back(scaled(basis));
  for (uint32_t basis : layout.warp) access.warp.push_back(scaled(basis));
  std::vector<uint32_t> inner;  // register bits of a vector, low element bits first
  uint32_t outer = static_cast<uint32_t>(layout.registers() - 1) & ~copies.reg;
  for (uint32_t element = 1; static_cast<int>(2 * element) * bytes <= 16; element *= 2) {
    auto it = std::find(layout.reg.begin(), layout.reg.end(), element);
    if (it == layout.reg.end()) break;
    inner.push_back(1u << (it - layout.reg.begin()));
    outer &= ~inner.back();
  }
  access.vector = 1 << inner.size();
  for (uint32_t r = 0; r < static_cast<uint32_t>(layout.registers()); ++r) {
    if ((r & ~outer) != 0) continue;
    access.offsets.push_back(scaled(layout.element(r, 0, 0)));
    for (uint32_t j = 0; j < static_cast<uint32_t>(access.vector); ++j)
      access.registers.push_back(static_cast<int>(r | layout::f2::apply(inner, j)));
  }
  return access;
}

// What the loop over k reads of one operand: one value for each distinct row (column).
struct Side {
  View view;
  int64_t start = 0;
  std::vector<uint32_t> columns;  // index of the value by register bit of the accumulator
  int count = 1;
  std::string name, at;
  std::vector<uint32_t> offsets;  // byte offset of each value
  int k_stride = 0;               // bytes

  std::string address(const std::string& offset) const {
    std::string text = at;
    if (offset != "0") text = text.empty() ? offset : "(" + text + " ^ " + paren(offset) + ")";
    text += fmt::format("{}k * {}", text.empty() ? "" : " + ", k_stride);
    return start > 0 ? fmt::format("{} + {}", text, start) : text;
  }
};

// `place` maps a flat index of the accumulator's tile to the operand's at k = 0.
template <class Place>
void plan_side(Emitter& e, Side& side, const layout::LinearLayout& acc, Place place) {
  auto bytes = static_cast<uint32_t>(side.view.type.element_bytes());
  std::vector<uint32_t> lane, warp, held;
  for (uint32_t basis : acc.lane) lane.push_back(place(basis) * bytes);
  for (uint32_t basis : acc.warp) warp.push_back(place(basis) * bytes);
  for (uint32_t basis : acc.reg) {
    uint32_t offset = place(basis) * bytes;
    side.columns.push_back(offset == 0 ? 0u : 1u << held.size());
    if (offset != 0) held.push_back(offset);
  }
  side.count = 1 << held.size();
  for (uint32_t v = 0; v < static_cast<uint32_t>(side.count); ++v)
    side.offsets.push_back(layout::f2::apply(held, v));
  side.at = e.thread_map(lane, warp);
}

View prepared(Emitter& e, const View& view, bool to_tf32) {
  if (!to_tf32) return view;
  return e.make_each(view.type, view.layout, e.fresh("operand"), view.uniform,
                     [&](const std::string& i) {
                       return fmt::format("tw_bitcast<f32>(tw_tf32({}))", view.at(i));
                     });
}

void stage(Emitter& e, const OpNode& op, Side& a, Side& b) {
  a.start = e.scratch_start();
  b.start = a.start + (a.view.type.element_count() * a.view.type.element_bytes() + 15) / 16 * 16;
  e.before_shared_write();
  e.reserve_shared(b.start + b.view.type.element_count() * b.view.type.element_bytes(), op.span,
                   "staging the operands of a dot");
  for (Side* side : {&a, &b}) {
    View view = side->view;
    if (view.uniform)
      view.layout = layout::blocked(
          view.type.shape, e.assignment.warps,
          [&] {
            std::vector<int> order;
            for (int d = view.type.rank(); d-- > 0;) order.push_back(d);
            return order;
          }(),
          1);
    SharedAccess access = row_major(view.layout, view.type.element_bytes());
    emit_shared_stores(e, access, {"", side->start}, view, 0, access.accesses());
  }
  e.barrier();
  e.after_shared_read();
}

void load_side(Emitter& e, Side& side) {
  std::string type = type_name(side.view.type);
  e.out.line(side.count > 1 ? fmt::format("{} {}[{}];", type, side.name, side.count)
                            : fmt::format("{} {};", type, side.name));
  std::vector<uint32_t> own;
  for (uint32_t v = 0; v < static_cast<uint32_t>(side.count); ++v) own.push_back(v);
  e.each({own, side.offsets}, [&](const std::vector<std::string>& i) {
    std::string target = side.count == 1 ? "&" + side.name
                         : i[0] == "0"   ? side.name
                                         : side.name + " + " + i[0];
    return fmt::format("tw_shared_load<1>({}, {});", target, side.address(i[1]));
  });
}

std::string value_text(const Side& side, Dtype compute, bool unrolled) {
  std::string text = side.name;
  if (side.count > 1)
    text += "[" + (unrolled ? linear_expression({{"i", side.columns}}) : "0") + "]";
  return side.view.type.dtype == compute ? text
                                         : fmt::format("tw_cast<{}>({})", type_name(compute), text);
}

}  // namespace

void emit_fma_dot(Emitter& e, ir::OpId id, const DotPlan& plan) {
  const OpNode& op = e.module.op(id);
  const ir::Type& type = e.module.type(op.results[0]);
  const ir::Shape& shape = e.module.type(op.operands[0]).shape;
  const layout::LinearLayout& acc = plan.accumulator;
  auto bits = [](int64_t extent) { return std::countr_zero(static_cast<uint64_t>(extent)); };
  int k_bits = bits(shape.back()), n_bits = bits(type.shape.back()),
      m_bits = bits(type.shape[type.shape.size() - 2]);

  bool round = e.module.type(op.operands[0]).dtype == Dtype::kF32 &&
               op.attrs.get_word("precision", "tf32") == "tf32";
  Side a, b;
  a.view = prepared(e, e.view(op.operands[0]), round);
  b.view = prepared(e, e.view(op.operands[1]), round);
  View start = e.use(id, 2);  // may itself go through shared memory, so before the staging
  stage(e, op, a, b);
  plan_side(e, a, acc, [&](uint32_t i) { return i >> n_bits << k_bits; });
  plan_side(e, b, acc, [&](uint32_t i) {
    uint32_t column = i & ((1u << n_bits) - 1), batch = i >> n_bits >> m_bits;
    return column | batch << k_bits << n_bits;
  });
  a.k_stride = a.view.type.element_bytes();
  b.k_stride = b.view.type.element_bytes() << n_bits;
  a.name = e.fresh("ak");
  b.name = e.fresh("bk");

  bool real = is_float(type.dtype);
  Dtype compute = !real || type.dtype == Dtype::kF64 ? type.dtype : Dtype::kF32;
  View sum = e.declare(type.with_dtype(compute), acc,
                       compute == type.dtype ? e.name_for(op.results[0]) : e.fresh("sum"));
  std::string every = sum.is_array ? fmt::format("TW_EACH(i, {}) ", sum.registers()) : "";
  std::string initial = start.at("i");
  if (compute != type.dtype) initial = fmt::format("tw_cast<{}>({})", type_name(compute), initial);
  e.out.line(fmt::format("{}{} = {};", every, sum.at("i"), initial));
  e.out.line("TW_NO_UNROLL");
  e.out.open(fmt::format("for (u32 k = 0; k < {}; ++k)", shape.back()));
  load_side(e, a);
  load_side(e, b);
  std::string x = value_text(a, compute, sum.is_array), y = value_text(b, compute, sum.is_array),
              s = sum.at("i");
  e.out.line(real ? fmt::format("{}{} = tw_fma({}, {}, {});", every, s, x, y, s)
                  : fmt::format("{}{} = tw_add({}, tw_mul({}, {}));", every, s, s, x, y));
  e.out.close();
  if (compute == type.dtype) return e.define(op.results[0], std::move(sum));
  e.define_each(op.results[0], false, [&](const std::string& i) {
    return fmt::format("tw_cast<{}>({})", type_name(type), sum.at(i));
  });
}

}  // namespace tilewright::cuda
