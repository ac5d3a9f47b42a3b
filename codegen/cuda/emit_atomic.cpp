// Atomics. Each element is updated once, by one of its holders; the old value travels to the other
// holders through shared memory. The machine's atomics are relaxed; fences around all elements of a
// thread make the order that the op asks for.
//
// A scalar atomic that releases is how kernels hand over what the whole program wrote (locks,
// arrival counters): a barrier before it makes those writes happen before the one thread's fence.
#include <fmt/format.h>

#include "codegen/cuda/emit_memory.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;

struct Order {
  std::string scope;
  bool release = false, acquire = false;
};

Order order_of(const OpNode& op) {
  std::string_view sem = op.attrs.get_word("sem", "acq_rel"),
                   scope = op.attrs.get_word("scope", "gpu");
  Order order;
  order.scope = scope == "cta" ? "TW_CTA" : scope == "sys" ? "TW_SYS" : "TW_GPU";
  order.release = sem == "release" || sem == "acq_rel";
  order.acquire = sem == "acquire" || sem == "acq_rel";
  return order;
}

void fence(Emitter& e, const Order& order) {
  e.out.line(fmt::format("tw_fence<{}>();", order.scope));
}

std::string zero(const ir::Type& type) {
  return is_float(type.dtype) ? float_literal(type.dtype, 0.0) : int_literal(type.dtype, 0);
}

// One atomic operation with its operands.
struct Atomic {
  std::string function;             // tw_atomic_add<TW_GPU>
  std::vector<View> operands = {};  // address, then values
  View mask = {};
  bool masked = false;

  // From the texts of the values' indices, then those of the address.
  std::string call(const std::vector<std::string>& index) const {
    std::string text = function + "(" + operands[0].value(index, operands.size() - 1);
    for (size_t i = 1; i < operands.size(); ++i) text += ", " + operands[i].element(index[i - 1]);
    return text + ")";
  }
};

void emit_scalar(Emitter& e, const OpNode& op, const Atomic& atomic, const Order& order) {
  const ir::Type& type = e.module.type(op.results[0]);
  bool used = e.is_used(op.results[0]);
  if (order.release)
    e.barrier();
  else if (used)
    e.before_shared_write();
  std::string condition = both(e.none_of(~0u, ~0u), atomic.masked ? atomic.mask.name : "");
  std::string call = atomic.call({"0", "0", "0"});
  std::string name = e.name_for(op.results[0]);
  if (!used) {
    e.out.open(fmt::format("if ({})", condition));
    if (order.release) fence(e, order);
    e.out.line(call + ";");
    e.out.close();
    return;
  }
  int64_t place = e.scratch_start();
  e.reserve_shared(place + type.element_bytes(), op.span, "the result of an atomic");
  e.out.line(fmt::format("{} {} = {};", type_name(type), name, zero(type)));
  e.out.open(fmt::format("if ({})", condition));
  if (order.release) fence(e, order);
  e.out.line(fmt::format("{} = {};", name, call));
  if (order.acquire) fence(e, order);
  e.out.close();
  e.out.line(fmt::format("if ({}) tw_shared_store<1>({}, &{});", e.none_of(~0u, ~0u), place, name));
  e.barrier();
  e.out.line(fmt::format("tw_shared_load<1>(&{}, {});", name, place));
  e.after_shared_read();
  e.define(op.results[0],
           View{.type = type, .layout = e.layout_of(op.results[0]), .name = name, .uniform = true});
}

// Holders write their old values to shared memory in row-major order; all read theirs.
void share_result(Emitter& e, const OpNode& op, const View& result,
                  const layout::ReplicationMask& copies) {
  const layout::LinearLayout& layout = result.layout;
  int bytes = result.type.element_bytes();
  e.before_shared_write();
  int64_t start = e.scratch_start();
  e.reserve_shared(start + result.type.element_count() * bytes, op.span,
                   "the results of an atomic");
  auto scaled = [&](std::vector<uint32_t> columns) {
    for (uint32_t& column : columns) column *= static_cast<uint32_t>(bytes);
    return columns;
  };
  std::string at = e.thread_map(scaled(layout.lane), scaled(layout.warp));
  auto address = [&](const std::string& offset) {
    std::string text = at.empty() || offset == "0" ? (at.empty() ? offset : at)
                                                   : fmt::format("({} ^ {})", at, paren(offset));
    return start == 0 ? without_parens(text) : fmt::format("{} + {}", text, start);
  };
  std::vector<uint32_t> all = distinct_registers(layout.registers(), 0, 1);
  std::vector<uint32_t> held = distinct_registers(layout.registers(), copies.reg, 1);
  auto offsets = [&](const std::vector<uint32_t>& registers) {
    std::vector<uint32_t> table;
    for (uint32_t r : registers)
      table.push_back(layout.element(r, 0, 0) * static_cast<uint32_t>(bytes));
    return table;
  };
  std::string holds = e.none_of(copies.lane, copies.warp);
  e.each({held, offsets(held)}, [&](const std::vector<std::string>& i) {
    std::string store =
        fmt::format("tw_shared_store<1>({}, {});", address(i[1]), Emitter::pointer(result, i[0]));
    return holds.empty() ? store : fmt::format("if ({}) {}", holds, store);
  });
  e.barrier();
  e.each({all, offsets(all)}, [&](const std::vector<std::string>& i) {
    return fmt::format("tw_shared_load<1>({}, {});", Emitter::pointer(result, i[0]), address(i[1]));
  });
  e.after_shared_read();
}

// Additions whose old values nobody wants, some neighbours at once.
void emit_additions(Emitter& e, ir::OpId id, const Atomic& atomic, const Order& order, int vector) {
  const layout::LinearLayout& layout = e.assignment.memory.at(id);
  layout::ReplicationMask copies = layout::replication_mask(layout);
  std::string holds = e.none_of(copies.lane, copies.warp);
  View value = e.contiguous(atomic.operands[1], vector, "added");
  if (order.release) fence(e, order);
  std::vector<uint32_t> starts = distinct_registers(layout.registers(), copies.reg, vector);
  std::vector<std::vector<uint32_t>> tables = {value.indices(starts), atomic.mask.indices(starts)};
  atomic.operands[0].add_indices(tables, starts);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string call = fmt::format("tw_red_add<{}, {}>({}, {});", order.scope, vector,
                                   atomic.operands[0].value(i, 2), Emitter::pointer(value, i[0]));
    std::string condition = both(holds, atomic.masked ? atomic.mask.element(i[1]) : "");
    return condition.empty() ? call : fmt::format("if ({}) {}", condition, call);
  });
}

void emit_tile(Emitter& e, ir::OpId id, const Atomic& atomic, const Order& order) {
  const OpNode& op = e.module.op(id);
  const ir::Type& type = e.module.type(op.results[0]);
  const layout::LinearLayout& layout = e.assignment.memory.at(id);
  layout::ReplicationMask copies = layout::replication_mask(layout);
  bool used = e.is_used(op.results[0]);
  int vector = memory_vector(e, id, layout.registers());
  if (!used && vector > 1) return emit_additions(e, id, atomic, order, vector);
  View result;
  if (used) {
    result = e.declare(type, layout, e.name_for(op.results[0]));
    std::string all = result.is_array ? fmt::format("TW_EACH(i, {}) ", layout.registers()) : "";
    e.out.line(fmt::format("{}{} = {};", all, result.at("i"), zero(type)));
  }
  std::string holds = e.none_of(copies.lane, copies.warp);
  if (order.release) fence(e, order);
  std::vector<uint32_t> held = distinct_registers(layout.registers(), copies.reg, 1);
  std::vector<std::vector<uint32_t>> tables = {held, atomic.mask.indices(held)};
  for (size_t i = 1; i < atomic.operands.size(); ++i)
    tables.push_back(atomic.operands[i].indices(held));
  atomic.operands[0].add_indices(tables, held);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string call = atomic.call({i.begin() + 2, i.end()});
    std::string condition = both(holds, atomic.masked ? atomic.mask.element(i[1]) : "");
    std::string text = used ? fmt::format("{} = {};", result.element(i[0]), call) : call + ";";
    return condition.empty() ? text : fmt::format("if ({}) {}", condition, text);
  });
  if (!used) return;
  if (order.acquire) fence(e, order);
  if (copies.reg | copies.lane | copies.warp) share_result(e, op, result, copies);
  e.define(op.results[0], std::move(result));
}

void emit_atomic(Emitter& e, ir::OpId id, std::string_view name, size_t values) {
  const OpNode& op = e.module.op(id);
  Order order = order_of(op);
  Atomic atomic{.function = fmt::format("tw_atomic_{}<{}>", name, order.scope)};
  for (size_t i = 0; i <= values; ++i) atomic.operands.push_back(e.use(id, static_cast<int>(i)));
  atomic.masked = op.operands.size() > values + 1;
  if (atomic.masked) atomic.mask = e.use(id, static_cast<int>(values) + 1);
  if (e.module.type(op.results[0]).is_scalar())
    emit_scalar(e, op, atomic, order);
  else
    emit_tile(e, id, atomic, order);
}

}  // namespace

void emit_AtomicRmw(Emitter& e, ir::OpId id) {
  emit_atomic(e, id, e.module.op(id).attrs.get_word("op"), 1);
}

void emit_AtomicCas(Emitter& e, ir::OpId id) {
  emit_atomic(e, id, "cas", 2);
}

}  // namespace tilewright::cuda
