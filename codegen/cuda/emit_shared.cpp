// Buffers in shared memory and copies into them. A slot's place is one variable, `slot * bytes`;
// the thread's part of an address is computed once at the top of the kernel, and what differs
// between the accesses of a thread is an immediate:
//
//   const u32 a_at = slot * 8192 + at;
//   tw_cp_async_if<16, 0>(a_at, tw_address<2>(a_ptr, offset[0]), mask);
//   tw_cp_async_if<16, 2048>(a_at, tw_address<2>(a_ptr, offset[1]), mask);
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emit_memory.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emit_rotation.h"
#include "codegen/cuda/emitter.h"
#include "codegen/layout/shared_layout.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using layout::SharedAccess;

const layout::SharedLayout& shared_layout(const Emitter& e, const OpNode& op) {
  return e.assignment.buffers.at(op.operands[0]);
}

// Where the slot that an op names begins.
SharedStart slot_start(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const BufferPlace& place = e.buffer(op.operands[0]);
  SharedStart start{.base = {}, .bytes = place.start};
  const OpNode* constant = e.module.def(op.operands[1]);
  if (place.slots == 1) return start;
  if (e.rotation && std::ranges::count(e.rotation->hoisted, id) > 0) {
    start.base = rotated_slot(e, *e.rotation, id);
    return start;
  }
  if (constant && constant->op == ir::Op::Const) {
    start.bytes += constant->attrs.get_int("value") * place.slot_bytes;
    return start;
  }
  const View& slot = e.view(op.operands[1]);
  start.base = e.fresh("slot_at");
  e.out.line(fmt::format("const u32 {} = (u32){} * {};", start.base, slot.name, place.slot_bytes));
  return start;
}

// One variable for each pattern of bits that meet the thread's part, and an immediate an access.
struct Addresses {
  SharedPlace place;
  SharedStart start;
  std::map<uint32_t, std::string> bases = {};

  Addresses(Emitter& e, const SharedAccess& access, const SharedStart& from, std::string_view hint)
      : place(e, access, from), start(from) {
    for (uint32_t offset : access.offsets)
      if (auto [it, added] = bases.emplace(place.meeting(offset), ""); added)
        it->second = place.base(std::string(hint) + "_at", it->first);
  }
  const std::string& base(uint32_t offset) const { return bases.at(place.meeting(offset)); }
  int64_t immediate(uint32_t offset) const { return place.apart(offset) + start.bytes; }
};

// With less a thread has registers for pointers.
constexpr int kLargeAccumulator = 128;

bool has_large_accumulator(const Emitter& e) {
  int words = 0;
  for (const auto& [id, plan] : e.assignment.dots)
    words += plan.accumulator.registers() *
             e.module.type(e.module.op(id).results[0]).element_bytes() / 4;
  return words >= kLargeAccumulator;
}

// Where a copy reads. Left alone, NVVM makes pointers of all copies and advances each, in two
// registers; where accumulators need them, or the offset changes in the loop anyway, the address is
// the base that moves and the offset in one register, multiplied and added on the spot.
std::string copied_address(const Emitter& e, const View& ptr, const std::vector<std::string>& index,
                           size_t first) {
  bool apart = !ptr.uniform && !ptr.base.empty() && ptr.offset_dtype == Dtype::kI32;
  if (!apart || (ptr.more.empty() && !has_large_accumulator(e))) return ptr.value(index, first);
  std::string base = ptr.base;
  for (size_t k = ptr.more.size(); k-- > 0;)
    base += fmt::format(" + (i64){} * {}", ptr.more[k].element(index[first + 1 + k]), ptr.scale);
  return fmt::format("tw_address<{}>({}, {})", ptr.scale, base, ptr.element(index[first]));
}

// A copy whose runs are too short to be asynchronous: through registers, done at the next barrier.
void copy_by_value(Emitter& e, ir::OpId id, const View& ptr, const View& mask, bool masked,
                   const layout::LinearLayout& layout) {
  const OpNode& op = e.module.op(id);
  ir::Type type = ir::Type::tile(e.module.type(op.operands[2]).dtype, layout.shape);
  View value = e.declare(type, layout, e.fresh("copied"));
  std::vector<uint32_t> all = distinct_registers(layout.registers(), 0, 1);
  std::vector<std::vector<uint32_t>> tables = {all, mask.indices(all)};
  ptr.add_indices(tables, all);
  std::string zero =
      is_float(type.dtype) ? float_literal(type.dtype, 0.0) : int_literal(type.dtype, 0);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string to = Emitter::pointer(value, i[0]), address = ptr.value(i, 2);
    if (!masked) return fmt::format("tw_load<1>({}, {});", to, address);
    return fmt::format("{{ {} = {}; tw_load_if<1>({}, {}, {}); }}", value.element(i[0]), zero, to,
                       address, mask.element(i[1]));
  });
  SharedAccess access = layout::plan_access(shared_layout(e, op), layout, false);
  emit_shared_stores(e, access, slot_start(e, id), value, 0, access.accesses());
}

}  // namespace

void emit_SharedAlloc(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const BufferPlace& place = e.buffer(op.results[0]);
  e.before_shared_write();  // of scratch that lies there
  e.reserve_shared(place.end(), op.span,
                   fmt::format("a buffer {} (stages of a pipelined loop)",
                               ir::to_string(e.module.type(op.results[0]))));
}

void emit_CopyAsync(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View ptr = e.use(id, 2), mask;
  bool masked = op.operands.size() > 3;
  if (masked) mask = e.use(id, 3);
  const layout::LinearLayout& layout = e.assignment.memory.at(id);
  int bytes = e.module.type(op.operands[0]).element_bytes();
  SharedAccess access =
      layout::plan_access(shared_layout(e, op), layout, false,
                          {.max_vector_bytes = memory_vector(e, id, layout.registers()) * bytes});
  int width = access.vector * bytes;
  if (width < 4 || !e.target.has_cp_async) return copy_by_value(e, id, ptr, mask, masked, layout);
  Addresses to(e, access, slot_start(e, id), e.module.value(op.operands[0]).name);
  std::string holds = e.none_of(access.copy_lanes, access.copy_warps);
  std::string guard = holds.empty() ? "" : fmt::format("if ({}) ", holds);
  std::vector<uint32_t> first;
  for (int k = 0; k < access.accesses(); ++k)
    first.push_back(
        static_cast<uint32_t>(access.registers[static_cast<size_t>(k * access.vector)]));
  std::vector<std::vector<uint32_t>> tables = {mask.indices(first)};
  ptr.add_indices(tables, first);
  for (size_t k = 0; k < first.size(); ++k) {
    std::vector<std::string> index;
    for (const auto& table : tables) index.push_back(std::to_string(table[k]));
    std::string call = fmt::format("{}tw_cp_async{}<{}, {}>({}, {}", guard, masked ? "_if" : "",
                                   width, to.immediate(access.offsets[k]),
                                   to.base(access.offsets[k]), copied_address(e, ptr, index, 1));
    e.out.line(call + (masked ? fmt::format(", {});", mask.element(index[0])) : ");"));
  }
}

void emit_CopyCommit(Emitter& e, ir::OpId) {
  if (e.target.has_cp_async) e.out.line("tw_cp_async_commit();");
}

void emit_CopyWait(Emitter& e, ir::OpId id) {
  if (e.target.has_cp_async)
    e.out.line(fmt::format("tw_cp_async_wait<{}>();", e.module.op(id).attrs.get_int("pending")));
  // Behind a loop the slots become scratch, whoever reads them.
  ir::OpId around = e.module.region(e.module.op(id).parent).parent;
  bool in_loop = around.valid() && e.module.op(around).op == ir::Op::For;
  if (!in_loop || !e.buffers_are_private()) e.barrier();
}

void emit_SharedLoad(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  ir::ValueId result = op.results[0];
  if (!e.is_used(result)) return;
  const ir::Type& type = e.module.type(result);
  const layout::LinearLayout& layout = e.layout_of(result);
  const layout::SharedLayout& shared = shared_layout(e, op);
  SharedStart start = slot_start(e, id);
  if (e.assignment.lazy_loads.contains(id)) {
    View view{.type = type, .layout = layout};
    view.slot = std::make_shared<SlotTile>(SlotTile{shared, layout, start});
    return e.define(result, std::move(view));
  }
  SharedAccess access =
      layout::plan_access(shared, layout, true, {.ldmatrix = e.target.has_ldmatrix});
  View view = e.declare(type, layout, e.name_for(result));
  emit_shared_loads(e, access, start, view, 0, access.accesses());
  e.define(result, renamed(e, view, layout::primary_registers(layout), layout, view.name));
}

void emit_SharedStore(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View value = e.use(id, 2);
  SharedAccess access = layout::plan_access(shared_layout(e, op), value.layout, false);
  emit_shared_stores(e, access, slot_start(e, id), value, 0, access.accesses());
}

}  // namespace tilewright::cuda
