// Where the fragments of a dot's operand come from: registers that hold them already, a slot of a
// buffer that the program filled before, or scratch memory in which the operand is staged here.
#include <fmt/format.h>

#include <bit>

#include "codegen/cuda/emit_dot.h"
#include "codegen/layout/shared_layout.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using layout::LinearLayout;

// Casts to what the unit multiplies.
View prepared(Emitter& e, const View& view, Dtype wanted) {
  if (view.type.dtype == wanted) return view;
  TW_CHECK(!view.slot, "an operand that is cast comes in registers");
  ir::Type type = view.type.with_dtype(wanted);
  return e.make_each(type, view.layout, e.fresh("operand"), view.uniform,
                     [&](const std::string& i) {
                       return fmt::format("tw_cast<{}>({})", type_name(type), view.at(i));
                     });
}

// Register bits that count tiles along K: accesses should not span them.
uint32_t k_tile_bits(const DotOperand& f) {
  return static_cast<uint32_t>(f.values * f.k_tiles - 1) & ~static_cast<uint32_t>(f.values - 1);
}

// Dimensions, the one that the registers run along first.
std::vector<int> register_order(const LinearLayout& layout) {
  int rank = static_cast<int>(layout.shape.size());
  std::vector<int> order;
  uint32_t first = layout.reg.empty() ? layout.lane[0] : layout.reg[0];
  for (int d = rank; d-- > 0;)
    if (layout::axis_mask(layout.shape, d) & first) order.push_back(d);
  for (int d = rank; d-- > 0;)
    if (order.empty() || order[0] != d) order.push_back(d);
  return order;
}

// A trip through scratch memory, which two operands may share.
struct Staging {
  layout::SharedLayout shared;
  layout::SharedAccess store;
};

DotOperand plan_operand(MmaDot& dot, int index, std::optional<Staging>& staging) {
  Emitter& e = dot.e;
  DotOperand f;
  bool is_a = index == 0;
  f.dtype = is_a ? dot.plan.unit.a : dot.plan.unit.b;
  f.view = prepared(e, e.view(dot.op.operands[static_cast<size_t>(index)]), f.dtype);
  f.values = is_a ? layout::a_fragment(dot.plan.tiling) : layout::b_fragment(dot.plan.tiling);
  f.packed = std::max(1, 4 / f.view.type.element_bytes());
  f.tiles = is_a ? dot.counts.m : dot.counts.n;
  f.k_tiles = dot.counts.k;
  f.batch = dot.counts.batch;
  const LinearLayout& wanted = is_a ? dot.plan.operand_a : dot.plan.operand_b;
  layout::AccessOptions options{.ldmatrix = e.target.has_ldmatrix, .apart = k_tile_bits(f)};
  if (f.view.slot) {
    const SlotTile& slot = *f.view.slot;
    TW_CHECK(f.view.layout == wanted, "a slot is read in the layout its dot asks for");
    f.in_shared = true;
    f.load = layout::plan_access(slot.shared, slot.layout, true, options);
    f.start = slot.start;
    return f;
  }
  if (f.view.uniform) {
    f.view.layout = wanted;
    return f;
  }
  auto conversion = layout::plan_conversion(f.view.layout, wanted, f.view.type.element_bytes(),
                                            {.ldmatrix = e.target.has_ldmatrix});
  f.in_shared = conversion.kind == layout::Conversion::Kind::kShared;
  if (!f.in_shared) {
    f.view = e.convert(f.view, wanted, "operand");
    return f;
  }
  staging.emplace();
  staging->shared = swizzled_for(layout::row_major(f.view.type.shape, f.view.type.element_bytes(),
                                                   register_order(f.view.layout)),
                                 wanted, options);
  staging->store = layout::plan_access(staging->shared, f.view.layout, false);
  f.load = layout::plan_access(staging->shared, wanted, true, options);
  return f;
}

// The fewest k tiles and batches (powers of two) such that no load access spans two groups.
void find_groups(MmaDot& dot, const DotOperand& f) {
  if (!f.in_shared) return;
  for (int k = 0; k < f.load.accesses(); ++k) {
    int first = f.load.registers[static_cast<size_t>(k * f.load.vector)];
    for (int j = 1; j < f.load.vector; ++j) {
      int r = f.load.registers[static_cast<size_t>(k * f.load.vector + j)];
      while (f.k_tile(first) / dot.group != f.k_tile(r) / dot.group) dot.group *= 2;
      while (f.batch_of(first) / dot.batches != f.batch_of(r) / dot.batches) dot.batches *= 2;
    }
  }
}

}  // namespace

void plan_operands(MmaDot& dot) {
  Emitter& e = dot.e;
  std::optional<Staging> staging[2];
  DotOperand* operands[] = {&dot.a, &dot.b};
  bool staged = false;
  for (int i = 0; i < 2; ++i) {
    *operands[i] = plan_operand(dot, i, staging[i]);
    find_groups(dot, *operands[i]);
    staged = staged || staging[i];
  }
  dot.group = std::max(dot.group, dot.plan.unit.promote);
  if (!staged) return;
  int64_t end = e.scratch_start();
  for (int i = 0; i < 2; ++i) {
    if (!staging[i]) continue;
    operands[i]->start.bytes = end;
    end += (staging[i]->shared.bytes() + 127) / 128 * 128;
  }
  e.before_shared_write();
  e.reserve_shared(end, dot.op.span, "staging the operands of a dot");
  for (int i = 0; i < 2; ++i)
    if (staging[i])
      emit_shared_stores(e, staging[i]->store, operands[i]->start, operands[i]->view, 0,
                         staging[i]->store.accesses());
  e.barrier();
  e.after_shared_read();
}

}  // namespace tilewright::cuda
