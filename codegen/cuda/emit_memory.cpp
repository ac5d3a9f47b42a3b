// Loads and stores: vectors of registers at consecutive addresses, predicated by masks.
#include <fmt/format.h>

#include "codegen/cuda/emit_memory.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {

using ir::OpNode;

std::string cache_hint(const ir::Attrs& attrs) {
  std::string_view cache = attrs.get_word("cache", "none"),
                   evict = attrs.get_word("evict", "normal");
  if (attrs.get_int("volatile") != 0) return "TW_VOLATILE";
  // The machine takes a cache operator or an eviction priority, not both.
  if (cache == "ca") return "TW_CA";
  if (cache == "cg") return "TW_CG";
  if (cache == "cs") return "TW_CS";
  if (cache == "cv") return "TW_CV";
  if (cache == "wb") return "TW_WB";
  if (cache == "wt") return "TW_WT";
  if (evict == "first") return "TW_EVICT_FIRST";
  if (evict == "last") return "TW_EVICT_LAST";
  return "";
}

std::vector<uint32_t> distinct_registers(int registers, uint32_t copies, int width) {
  std::vector<uint32_t> result;
  for (int r = 0; r < registers; r += width)
    if ((static_cast<uint32_t>(r) & copies) == 0) result.push_back(static_cast<uint32_t>(r));
  return result;
}

int memory_vector(const Emitter& e, ir::OpId id, int registers) {
  auto it = e.assignment.vectors.find(id);
  return it == e.assignment.vectors.end() ? 1 : std::min(it->second, registers);
}

namespace {

// The same for accesses that follow one another.
uint32_t memory_run(const Emitter& e, ir::OpId id, int registers) {
  auto it = e.assignment.runs.find(id);
  return static_cast<uint32_t>(it == e.assignment.runs.end() ? 1 : std::min(it->second, registers));
}

}  // namespace

std::string both(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  return b.empty() ? a : a + " && " + b;
}

namespace {

std::string call_suffix(int vector, const std::string& hint) {
  return hint.empty() ? fmt::format("<{}>", vector) : fmt::format("<{}, {}>", vector, hint);
}

}  // namespace

void emit_Load(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  ir::ValueId result = op.results[0];
  const ir::Type& type = e.module.type(result);
  bool masked = op.operands.size() > 1;
  View ptr = e.use(id, 0), mask, other;
  if (masked) mask = e.use(id, 1);
  if (op.operands.size() > 2) other = e.use(id, 2);

  View view;
  std::string name = e.name_for(result);
  bool one = type.is_scalar() || ptr.uniform;
  layout::LinearLayout layout = e.layout_of(result);
  int registers = one ? 1 : layout.registers();
  // One address is one value, unless the mask or `other` differ.
  if (one && type.is_tile() &&
      ((masked && !mask.uniform) || (other.type.is_tile() && !other.uniform))) {
    one = false;
    registers = layout.registers();
  }
  if (one) {
    view = View{.type = type, .layout = layout, .name = name, .uniform = true};
    e.out.line(fmt::format("{} {};", type_name(type), name));
  } else {
    view = e.declare(type, layout, name);
  }
  std::string suffix = call_suffix(one ? 1 : memory_vector(e, id, registers), cache_hint(op.attrs));
  if (masked) {
    bool none = op.operands.size() < 3;
    auto fill = [&](const std::string& i) {
      if (!none) return other.at(i);
      return is_float(type.dtype) ? float_literal(type.dtype, 0.0) : int_literal(type.dtype, 0);
    };
    e.out.line(view.is_array ? fmt::format("TW_EACH(i, {}) {}[i] = {};", registers, name, fill("i"))
                             : fmt::format("{} = {};", name, fill("0")));
  }
  int vector = one ? 1 : memory_vector(e, id, registers);
  std::vector<uint32_t> starts = distinct_registers(registers, 0, vector);
  // Short accesses of a run share the address of its first element.
  uint32_t run = one ? 1 : memory_run(e, id, registers);
  std::vector<uint32_t> bases, offsets;
  for (uint32_t start : starts) {
    bases.push_back(start & ~(run - 1));
    offsets.push_back((start & (run - 1)) * static_cast<uint32_t>(dtype_bytes(type.dtype)));
  }
  std::vector<std::vector<uint32_t>> tables = {starts, mask.indices(starts), offsets};
  ptr.add_indices(tables, bases);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string to = Emitter::pointer(view, i[0]), address = ptr.value(i, 3);
    if (static_cast<int>(run) > vector) address += " + " + paren(i[2]);
    if (!masked) return fmt::format("tw_load{}({}, {});", suffix, to, address);
    return fmt::format("tw_load_if{}({}, {}, {});", suffix, to, address, mask.element(i[1]));
  });
  e.define(result, std::move(view));
}

void emit_Store(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View ptr = e.use(id, 0), value = e.use(id, 1), mask;
  bool masked = op.operands.size() > 2;
  if (masked) mask = e.use(id, 2);
  std::string hint = cache_hint(op.attrs);

  layout::ReplicationMask copies;
  int registers = 1;
  if (ptr.type.is_scalar()) {
    copies.lane = copies.warp = ~0u;
  } else {
    const layout::LinearLayout& layout = e.assignment.memory.at(id);
    copies = layout::replication_mask(layout);
    registers = layout.registers();
  }
  std::string holds = e.none_of(copies.lane & 31, copies.warp);
  int vector = ptr.type.is_scalar() ? 1 : memory_vector(e, id, registers);
  value = e.contiguous(value, vector, "out");
  std::vector<uint32_t> starts = distinct_registers(registers, copies.reg, vector);
  std::vector<std::vector<uint32_t>> tables = {value.indices(starts), mask.indices(starts)};
  ptr.add_indices(tables, starts);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string condition = both(holds, masked ? mask.element(i[1]) : "");
    std::string call = condition.empty() ? "tw_store" : "tw_store_if";
    call += fmt::format("{}({}, {}", call_suffix(vector, hint), ptr.value(i, 2),
                        Emitter::pointer(value, i[0]));
    return call + (condition.empty() ? ");" : fmt::format(", {});", condition));
  });
}

}  // namespace tilewright::cuda
