// histogram: counters in shared memory, which every holder of an element adds to once.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emit_memory.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/layout/shared_layout.h"

namespace tilewright::cuda {
namespace {

using layout::SharedAccess;

// Zeros in 2^n counters, all threads together, 16 bytes at a time where there are enough.
void clear_counters(Emitter& e, int64_t start, int64_t bins) {
  const int64_t threads = int64_t{e.assignment.warps} * 32;
  const int64_t vector = std::clamp<int64_t>(bins / threads, 1, 4);
  const int64_t rounds = std::max<int64_t>(1, bins / vector / threads);
  std::string zeros = e.fresh("zeros"), guard;
  if (bins < threads)
    guard = fmt::format("if ({}) ",
                        e.at_top("bool", "clears", fmt::format("{} < {}u", e.thread(), bins)));
  e.out.line(fmt::format("const i32 {}[{}] = {{}};", zeros, vector));
  std::string place = fmt::format("{} * {}", e.thread(), vector * 4);
  if (start != 0) place += fmt::format(" + {}", start);
  std::string each = rounds > 1 ? fmt::format("TW_EACH(i, {}) ", rounds) : "";
  if (rounds > 1) place += fmt::format(" + i * {}", threads * vector * 4);
  e.out.line(fmt::format("{}{}tw_shared_store<{}>({}, {});", each, guard, vector, place, zeros));
}

}  // namespace

void emit_Histogram(Emitter& e, ir::OpId id) {
  const ir::OpNode& op = e.module.op(id);
  const ir::Type& type = e.module.type(op.results[0]);
  View x = e.use(id, 0), mask;
  bool masked = op.operands.size() > 1;
  if (masked) mask = e.use(id, 1);
  const int64_t bins = type.shape[0], start = e.scratch_start();
  layout::SharedLayout shared = layout::row_major(type.shape, 4, {0});
  e.before_shared_write();
  e.reserve_shared(start + std::max<int64_t>(16, bins * 4), op.span, "the counters of a histogram");
  clear_counters(e, start, bins);
  e.barrier();
  layout::LinearLayout held = required_layout(e.module, e.assignment, id, 0);
  layout::ReplicationMask copies = layout::replication_mask(held);
  std::string holds = e.none_of(copies.lane, copies.warp);
  std::vector<uint32_t> own = distinct_registers(held.registers(), copies.reg, 1);
  std::vector<std::vector<uint32_t>> tables = {x.indices(own)};
  if (masked) tables.push_back(mask.indices(own));
  bool wide = dtype_bits(x.type.dtype) > 32;
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string value = x.element(i[0]);
    std::string counts = fmt::format("({}){} < {}u", wide ? "u64" : "u32", value, bins);
    if (masked) counts = both(mask.element(i[1]), counts);
    return fmt::format("if ({}) tw_shared_add((u32){} * 4{}, 1u);", both(holds, counts), value,
                       start != 0 ? fmt::format(" + {}", start) : "");
  });
  e.barrier();
  const layout::LinearLayout& layout = e.layout_of(op.results[0]);
  View result = e.declare(type, layout, e.name_for(op.results[0]));
  SharedAccess access = layout::plan_access(shared, layout, true);
  emit_shared_loads(e, access, {"", start}, result, 0, access.accesses());
  e.after_shared_read();
  e.define(op.results[0],
           renamed(e, result, layout::primary_registers(layout), layout, result.name));
}

}  // namespace tilewright::cuda
