#include <algorithm>

#include "codegen/passes/rules.h"
#include "dsl/base/check.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

constexpr size_t kForBounds = 3;  // operands of `for` before the carried values

// The operands of a region's terminator in their final form.
std::vector<ValueId> passed_by(Rewriter& rw, RegionId region) {
  const ir::Region& r = rw.module().region(region);
  std::vector<ValueId> values = rw.module().op(r.ops.back()).operands;
  for (ValueId& value : values) value = rw.resolve(value);
  return values;
}

// The entries whose flag is not set.
template <class T>
std::vector<T> without(const std::vector<T>& all, const std::vector<bool>& dropped) {
  std::vector<T> kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (!dropped[i]) kept.push_back(all[i]);
  return kept;
}

// The flags for a list that has `count` entries in front of the flagged ones.
std::vector<bool> after(size_t count, const std::vector<bool>& flags) {
  std::vector<bool> all(count, false);
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

void drop_terminator_operands(Rewriter& rw, RegionId region, const std::vector<bool>& dropped) {
  OpNode& terminator = rw.module().op(rw.module().region(region).ops.back());
  terminator.operands = without(terminator.operands, dropped);
}

void drop_arguments(Rewriter& rw, RegionId region, const std::vector<bool>& dropped) {
  auto& args = rw.module().region(region).args;
  args = without(args, dropped);
  for (size_t i = 0; i < args.size(); ++i)
    rw.module().value(args[i]).position = static_cast<uint32_t>(i);
}

// The op again, without the results that are flagged; those are replaced by `instead`.
Replacement rebuild(Rewriter& rw, const OpNode& node, std::vector<ValueId> operands,
                    const std::vector<bool>& dropped, const std::vector<ValueId>& instead) {
  std::vector<ir::Type> types;
  for (ValueId result : without(node.results, dropped)) types.push_back(rw.type(result));
  std::vector<ValueId> kept =
      rw.make_with_regions(node.op, std::move(operands), node.attrs, types, node.regions);
  std::vector<ValueId> replacement;
  size_t next = 0;
  for (size_t i = 0; i < dropped.size(); ++i)
    replacement.push_back(dropped[i] ? instead[i] : kept[next++]);
  return replacement;
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

// ---- if ----

// if 1 {a} {b} = a, if 0 {a} {b} = b
Replacement if_constant(Rewriter& rw, OpId, const OpNode& node) {
  auto cond = rw.constant(node.operands[0]);
  return cond ? Replacement(rw.inline_region(node.regions[*cond ? 0 : 1], {})) : kNoMatch;
}

// if (not c) {a} {b} = if c {b} {a}
Replacement if_not(Rewriter& rw, OpId, const OpNode& node) {
  ValueId cond = operand_of(rw, node.operands[0], Op::Not);
  if (!cond.valid()) return kNoMatch;
  OpNode swapped = node;
  std::swap(swapped.regions[0], swapped.regions[1]);
  std::vector<bool> none(node.results.size(), false);
  return rebuild(rw, swapped, {cond}, none, node.results);
}

// if c {yield x} {yield x} = x, result by result
Replacement if_same(Rewriter& rw, OpId, const OpNode& node) {
  std::vector<ValueId> a = passed_by(rw, node.regions[0]), b = passed_by(rw, node.regions[1]);
  std::vector<bool> same;
  for (size_t i = 0; i < a.size(); ++i) same.push_back(a[i] == b[i]);
  if (!any(same)) return kNoMatch;
  for (RegionId region : node.regions) drop_terminator_operands(rw, region, same);
  return rebuild(rw, node, node.operands, same, a);
}

// if c {yield a…} {yield b…} = select c a b … for scalars
Replacement if_to_select(Rewriter& rw, OpId, const OpNode& node) {
  if (node.results.empty()) return kNoMatch;
  for (RegionId region : node.regions)
    if (rw.module().region(region).ops.size() != 1) return kNoMatch;
  for (ValueId result : node.results)
    if (rw.type(result).is_tile()) return kNoMatch;
  std::vector<ValueId> a = passed_by(rw, node.regions[0]), b = passed_by(rw, node.regions[1]);
  std::vector<ValueId> results;
  for (size_t i = 0; i < a.size(); ++i)
    results.push_back(rw.make(Op::Select, {node.operands[0], a[i], b[i]}));
  return results;
}

// ---- for ----

__int128 bound(Rewriter& rw, ValueId id, uint64_t bits) {
  Dtype dtype = rw.type(id).dtype;
  return dtype == Dtype::kU64 ? static_cast<__int128>(bits)
                              : static_cast<__int128>(bits_to_int(bits, dtype));
}

// 0, 1, or 2 for more; nothing if not known.
std::optional<int> trip_count(Rewriter& rw, const OpNode& node) {
  if (node.operands[0] == node.operands[1]) return 0;
  auto lo_bits = rw.constant(node.operands[0]), hi_bits = rw.constant(node.operands[1]);
  auto step_bits = rw.constant(node.operands[2]);
  if (!lo_bits || !hi_bits || !step_bits) return std::nullopt;
  __int128 lo = bound(rw, node.operands[0], *lo_bits), hi = bound(rw, node.operands[1], *hi_bits);
  __int128 step = bound(rw, node.operands[2], *step_bits);
  if (step < 0) {
    std::swap(lo, hi);
    step = -step;
  }
  return step == 0 ? std::nullopt : std::optional(lo >= hi ? 0 : lo + step >= hi ? 1 : 2);
}

// for over nothing = init; for over one index = its body
Replacement for_short(Rewriter& rw, OpId, const OpNode& node) {
  auto trips = trip_count(rw, node);
  if (!trips || *trips > 1) return kNoMatch;
  std::vector<ValueId> init(node.operands.begin() + kForBounds, node.operands.end());
  if (*trips == 0) return init;
  init.insert(init.begin(), node.operands[0]);
  return rw.inline_region(node.regions[0], init);
}

// for … x {region(i, a) … yield a or x} = x, carried value by carried value
Replacement for_invariant(Rewriter& rw, OpId, const OpNode& node) {
  std::vector<ValueId> args = rw.module().region(node.regions[0]).args;
  std::vector<ValueId> next = passed_by(rw, node.regions[0]);
  std::vector<ValueId> init(node.operands.begin() + kForBounds, node.operands.end());
  std::vector<bool> same;
  for (size_t i = 0; i < next.size(); ++i)
    same.push_back(next[i] == args[i + 1] || next[i] == init[i]);
  if (!any(same)) return kNoMatch;
  for (size_t i = 0; i < same.size(); ++i)
    if (same[i]) rw.replace_argument(args[i + 1], init[i]);
  drop_arguments(rw, node.regions[0], after(1, same));
  drop_terminator_operands(rw, node.regions[0], same);
  return rebuild(rw, node, without(node.operands, after(kForBounds, same)), same, init);
}

// ---- while ----

// while x {… condition 0 v} {…} = v
Replacement while_never(Rewriter& rw, OpId, const OpNode& node) {
  std::vector<ValueId> passed = passed_by(rw, node.regions[0]);
  if (!is_int_constant(rw, passed[0], 0)) return kNoMatch;
  passed = rw.inline_region(node.regions[0], node.operands);
  passed.erase(passed.begin());
  return passed;
}

// while x {region(a) … condition c, a} {region(b) … yield b} = x, carried value by carried value
Replacement while_invariant(Rewriter& rw, OpId, const OpNode& node) {
  std::vector<ValueId> before = rw.module().region(node.regions[0]).args;
  std::vector<ValueId> inside = rw.module().region(node.regions[1]).args;
  std::vector<ValueId> passed = passed_by(rw, node.regions[0]);
  std::vector<ValueId> next = passed_by(rw, node.regions[1]);
  std::vector<bool> same;
  for (size_t i = 0; i < next.size(); ++i) {
    ValueId init = node.operands[i];
    same.push_back((passed[i + 1] == before[i] || passed[i + 1] == init) &&
                   (next[i] == inside[i] || next[i] == init));
  }
  if (!any(same)) return kNoMatch;
  for (size_t i = 0; i < same.size(); ++i) {
    if (!same[i]) continue;
    rw.replace_argument(before[i], node.operands[i]);
    rw.replace_argument(inside[i], node.operands[i]);
  }
  for (RegionId region : node.regions) drop_arguments(rw, region, same);
  drop_terminator_operands(rw, node.regions[0], after(1, same));
  drop_terminator_operands(rw, node.regions[1], same);
  return rebuild(rw, node, without(node.operands, same), same, node.operands);
}

constexpr Rule kRules[] = {
    {Op::If, "if-constant", if_constant},
    {Op::If, "if-not", if_not},
    {Op::If, "if-same", if_same, true},
    {Op::If, "if-to-select", if_to_select, true},
    {Op::For, "for-short", for_short},
    {Op::For, "for-invariant", for_invariant, true},
    {Op::While, "while-never", while_never, true},
    {Op::While, "while-invariant", while_invariant, true},
};

}  // namespace

std::span<const Rule> control_rules() {
  return kRules;
}

}  // namespace tilewright::passes
