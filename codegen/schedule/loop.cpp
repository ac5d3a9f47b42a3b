#include "codegen/schedule/loop.h"

#include <algorithm>

namespace tilewright::schedule {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

std::optional<int64_t> constant_int(const ir::Module& module, ValueId value) {
  const OpNode* def = module.def(value);
  if (def == nullptr || def->op != Op::Const || is_float(module.type(value).dtype))
    return std::nullopt;
  return def->attrs.get_int("value");
}

Loop::Loop(const ir::Module& module, OpId id)
    : op(id), body(module.op(id).regions[0]), module_(module), inside_(module.value_count()) {
  for (ValueId value : module.region(body).args) inside_[value.index] = true;
  ir::walk(module, body, [&](OpId at) {
    const OpNode& n = module.op(at);
    ops.push_back(at);
    if (n.op == Op::Load && n.parent == body) loads.push_back(at);
    for (ValueId result : n.results) inside_[result.index] = true;
    for (ir::RegionId region : n.regions)
      for (ValueId value : module.region(region).args) inside_[value.index] = true;
    for (ValueId operand : n.operands) users_[operand].push_back(at);
  });
}

std::optional<int64_t> Loop::constant_step() const {
  return constant_int(module_, step());
}

std::optional<int64_t> Loop::trip_count() const {
  auto from = constant_int(module_, lo()), to = constant_int(module_, hi());
  auto by = constant_step();
  if (!from || !to || !by || *by == 0) return std::nullopt;
  __int128 distance =
      *by > 0 ? static_cast<__int128>(*to) - *from : static_cast<__int128>(*from) - *to;
  __int128 stride = *by > 0 ? static_cast<__int128>(*by) : -static_cast<__int128>(*by);
  return distance <= 0 ? 0 : static_cast<int64_t>((distance + stride - 1) / stride);
}

std::optional<size_t> Loop::carried_index(ValueId value) const {
  const ir::Value& v = module_.value(value);
  if (v.def.valid() || v.region != body || v.position == 0) return std::nullopt;
  return v.position - 1;
}

const std::vector<OpId>& Loop::users(ValueId value) const {
  static const std::vector<OpId> kNone;
  auto found = users_.find(value);
  return found == users_.end() ? kNone : found->second;
}

std::string Loop::cannot_advance(ValueId value, std::vector<OpId>* found) const {
  std::map<ValueId, bool> seen;
  return check(value, false, seen, found);
}

// `seen` remembers values, and whether they were seen inside a recurrence, where less is allowed.
std::string Loop::check(ValueId value, bool in_recurrence, std::map<ValueId, bool>& seen,
                        std::vector<OpId>* found) const {
  if (!is_inside(value) || value == iv()) return "";
  auto [at, is_new] = seen.emplace(value, in_recurrence);
  if (!is_new && (at->second || !in_recurrence)) return "";
  at->second = in_recurrence;
  if (auto j = carried_index(value)) return check(next(*j), true, seen, found);
  OpId id = module_.value(value).def;
  if (!id.valid()) return "it depends on a region of its own";
  const OpNode& def = module_.op(id);
  std::string mnemonic(ir::op_info(def.op).mnemonic);
  if (def.op == Op::Load && def.parent == body && !in_recurrence) {
    if (found && std::ranges::find(*found, id) == found->end()) found->push_back(id);
  } else if (!ir::op_info(def.op).has(ir::kPure) || !def.regions.empty() || def.op == Op::Dot ||
             def.parent != body) {
    return in_recurrence && def.op == Op::Load
               ? "its address follows from what the iteration before loads"
               : "its address depends on `" + mnemonic + "`";
  }
  for (ValueId operand : def.operands)
    if (std::string why = check(operand, in_recurrence, seen, found); !why.empty()) return why;
  return "";
}

}  // namespace tilewright::schedule
