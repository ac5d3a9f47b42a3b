// gather: the source lies row-major in shared memory; every element of the result reads its own.
//
//   tw_shared_store<4>(at, src); tw_barrier();
//   TW_EACH(i, 4) { y[i] = 0.0f; if ((u32)index[i] < 64u) tw_shared_load<1>(&y[i], at2 +
//   (u32)index[i] * 4); }
#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/layout/shared_layout.h"

namespace tilewright::cuda {
namespace {

using layout::SharedAccess;

std::string zero(const ir::Type& type) {
  return is_float(type.dtype) ? float_literal(type.dtype, 0.0) : int_literal(type.dtype, 0);
}

// The index of an element as an unsigned number: negative ones become too large.
std::string unsigned_index(const View& index, const std::string& i) {
  bool wide = dtype_bits(index.type.dtype) > 32;
  return fmt::format("({}){}", wide ? "u64" : "u32", index.element(i));
}

}  // namespace

void emit_Gather(Emitter& e, ir::OpId id) {
  const ir::OpNode& op = e.module.op(id);
  const int axis = static_cast<int>(op.attrs.get_int("axis"));
  View src = e.use(id, 0), index = e.use(id, 1);
  const ir::Type& type = e.module.type(op.results[0]);
  const layout::LinearLayout& layout = index.layout;
  const auto bytes = static_cast<uint32_t>(type.element_bytes());
  const int64_t extent = src.type.shape[static_cast<size_t>(axis)];
  const int64_t start = e.scratch_start();
  if (!src.uniform) {
    std::vector<int> order(src.type.shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
    layout::SharedLayout shared = layout::row_major(src.type.shape, static_cast<int>(bytes), order);
    e.before_shared_write();
    e.reserve_shared(start + shared.bytes(), op.span, "the source of a gather");
    SharedAccess access = layout::plan_access(shared, src.layout, false);
    emit_shared_stores(e, access, {"", start}, src, 0, access.accesses());
    e.barrier();
  }
  // Where an element of the index begins its row of the source: bits above the axis move.
  const int low = layout::axis_shift(type.shape, axis);
  const int index_bits =
      std::countr_zero(static_cast<uint64_t>(type.shape[static_cast<size_t>(axis)]));
  const int source_bits = std::countr_zero(static_cast<uint64_t>(extent));
  auto row = [&](uint32_t element) {
    uint32_t below = element & ((1u << low) - 1), above = element >> low >> index_bits;
    return (below | above << source_bits << low) * bytes;
  };
  auto columns = [&](std::vector<uint32_t> basis) {
    for (uint32_t& column : basis) column = row(column);
    return basis;
  };
  std::string at = e.thread_map(columns(layout.lane), columns(layout.warp));
  View result = e.declare(type, layout, e.name_for(op.results[0]));
  std::vector<std::vector<uint32_t>> tables(3);
  for (uint32_t r = 0; r < static_cast<uint32_t>(layout.registers()); ++r) {
    tables[0].push_back(r);
    tables[1].push_back(index.index(r));
    tables[2].push_back(row(layout.element(r, 0, 0)));
  }
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string number = unsigned_index(index, i[1]);
    std::string check = fmt::format("{} < {}u", number, extent);
    if (src.uniform)
      return fmt::format("{} = {} ? {} : {};", result.element(i[0]), check, src.element("0"),
                         zero(type));
    std::string from = at;
    if (i[2] != "0")
      from = from.empty() ? paren(i[2]) : fmt::format("({} ^ {})", from, paren(i[2]));
    if (start != 0) from += (from.empty() ? "" : " + ") + std::to_string(start);
    from += fmt::format("{}(u32){} * {}u", from.empty() ? "" : " + ", index.element(i[1]),
                        bytes << low);
    return fmt::format("{{ {} = {}; if ({}) tw_shared_load<1>({}, {}); }}", result.element(i[0]),
                       zero(type), check, Emitter::pointer(result, i[0]), from);
  });
  if (!src.uniform) e.after_shared_read();
  e.define(op.results[0], e.convert(result, e.layout_of(op.results[0]), result.name));
}

}  // namespace tilewright::cuda
