// In loops around dots, a select by a mask that is true everywhere in all but the last iterations
// stands in a branch that those do not take. Whether the mask is true everywhere is a question
// about scalars:
//
//   %cols = add (splat %start), (arange 0, 64)         %last = sub %n, 64
//   %in = cmp lt %cols, (splat %n)                     %all = and (cmp le %start, %last), …
//   %s = select %in, %x, %y                     ->     %s = if %all { yield %x } else {
//                                                        %cols = …  %in = …
//                                                        yield (select %in, %x, %y) }
//
// A mask is a conjunction of comparisons of signed integers whose sides are a scalar and a known
// range that differs from element to element. Sums wrap, so that the element is the scalar plus a
// number of the range exactly as long as that does not leave the type; the conditions say so too.
#include <algorithm>
#include <optional>

#include "codegen/ir/builder.h"
#include "codegen/passes/passes.h"
#include "dsl/base/numeric.h"

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

// Ranges are extents of tiles, and constants near them.
constexpr int64_t kFar = 1 << 24;

// `base` (0 if invalid), a scalar, plus something from low to high.
struct Spread {
  ValueId base;
  int64_t low = 0, high = 0;
};

bool rearranges(Op op) {
  return op == Op::Splat || op == Op::Broadcast || op == Op::ExpandDims || op == Op::Reshape ||
         op == Op::Permute || op == Op::Hint;
}

bool is_signed_int(Dtype dtype) {
  return dtype == Dtype::kI32 || dtype == Dtype::kI64;
}

class MaskSkipper {
 public:
  explicit MaskSkipper(Module& module) : m_(module), b_(module) {}

  bool run() {
    std::vector<OpId> selects;
    ir::walk(m_, m_.body, [&](OpId id) {
      const OpNode& op = m_.op(id);
      if (op.op == Op::Select && m_.type(op.operands[0]).is_tile() && is_worth_it(id))
        selects.push_back(id);
    });
    bool changed = false;
    for (OpId id : selects) changed |= skip(id);
    return changed;
  }

 private:
  // In a loop with a dot, and not in such a branch already.
  bool is_worth_it(OpId id) const {
    RegionId region = m_.op(id).parent;
    OpId owner = m_.region(region).parent;
    if (owner.valid() && m_.op(owner).op == Op::If && m_.op(owner).results.size() == 1) {
      const OpNode& yield = m_.op(m_.region(m_.op(owner).regions[0]).ops.back());
      if (yield.operands[0] == m_.op(id).operands[1]) return false;
    }
    for (; owner.valid(); owner = m_.region(m_.op(owner).parent).parent)
      if (m_.op(owner).op == Op::For || m_.op(owner).op == Op::While) return has_dot(owner);
    return false;
  }
  bool has_dot(OpId loop) const {
    bool found = false;
    for (RegionId region : m_.op(loop).regions)
      ir::walk(m_, region, [&](OpId id) { found |= m_.op(id).op == Op::Dot; });
    return found;
  }

  bool skip(OpId select) {
    const RegionId region = m_.op(select).parent;
    const OpNode node = m_.op(select);
    b_.set_span(node.span);
    RegionId conditions = m_.add_region({});
    b_.set_region(conditions);
    std::optional<ValueId> all = all_true(node.operands[0]);
    if (!all || !is_variable(*all)) return false;
    OpId branch = b_.make_if(*all, {m_.type(node.results[0])});
    ValueId result = m_.op(branch).results[0];
    m_.value(result).name = m_.value(node.results[0]).name;
    b_.set_region(m_.op(branch).regions[0]);
    b_.yield({node.operands[1]});
    m_.replace_uses(node.results[0], result);
    RegionId rest = m_.op(branch).regions[1];
    std::vector<OpId>& ops = m_.region(region).ops;
    auto at = std::ranges::find(ops, select);
    std::vector<OpId> made = m_.region(conditions).ops;
    m_.region(conditions).ops.clear();
    for (OpId id : made) m_.op(id).parent = region;
    at = ops.erase(at);
    ops.insert(at, made.begin(), made.end());
    m_.op(select).parent = {};
    m_.append(rest, select);
    b_.set_region(rest);
    b_.yield({node.results[0]});
    sink(region, branch, rest);
    return true;
  }

  // A mask that is known to be true or false is no question.
  bool is_variable(ValueId value) const {
    const OpNode* def = m_.def(value);
    return def == nullptr || def->op != Op::Const;
  }

  // Pure ops before the branch whose results are used in `rest` alone go there.
  void sink(RegionId region, OpId branch, RegionId rest) {
    std::vector<OpId> ops = m_.region(region).ops;
    for (size_t i = static_cast<size_t>(std::ranges::find(ops, branch) - ops.begin()); i-- > 0;) {
      const OpNode& op = m_.op(ops[i]);
      if (!ir::op_info(op.op).has(ir::kPure) || !op.regions.empty() || op.op == Op::Dot) continue;
      if (!m_.type(op.results[0]).is_tile() || !used_in_alone(op, rest)) continue;
      std::erase(m_.region(region).ops, ops[i]);
      m_.op(ops[i]).parent = rest;
      m_.region(rest).ops.insert(m_.region(rest).ops.begin(), ops[i]);
    }
  }
  bool used_in_alone(const OpNode& op, RegionId rest) const {
    bool used = false, alone = true;
    ir::walk(m_, m_.body, [&](OpId id) {
      const OpNode& user = m_.op(id);
      for (ValueId operand : user.operands)
        if (std::ranges::count(op.results, operand) > 0) {
          used = true;
          alone &= user.parent == rest;
        }
    });
    return used && alone;
  }

  // ---- scalars that say something about tiles ----

  // True only if every element is.
  std::optional<ValueId> all_true(ValueId mask) {
    if (m_.type(mask).is_scalar()) return mask;
    const OpNode* found = m_.def(mask);
    if (found == nullptr) return std::nullopt;
    const OpNode def = *found;
    if (rearranges(def.op)) return all_true(def.operands[0]);
    if (def.op == Op::And) {
      auto a = all_true(def.operands[0]);
      auto b = a ? all_true(def.operands[1]) : std::nullopt;
      if (!b) return std::nullopt;
      return b_.make(Op::And, {*a, *b});
    }
    if (def.op != Op::Cmp || !is_signed_int(m_.type(def.operands[0]).dtype)) return std::nullopt;
    std::string_view pred = def.attrs.get_word("pred");
    bool swapped = pred == "gt" || pred == "ge", strict = pred == "lt" || pred == "gt";
    if (!swapped && !strict && pred != "le") return std::nullopt;
    Dtype dtype = m_.type(def.operands[0]).dtype;
    auto left = spread_of(def.operands[swapped ? 1 : 0], dtype);
    auto right = spread_of(def.operands[swapped ? 0 : 1], dtype);
    if (!left || !right) return std::nullopt;
    return always_less(*left, *right, strict, dtype);
  }

  // left.base <= right.base - distance, and right does not wrap: then left does not either where
  // that would matter, as it is less.
  ValueId always_less(const Spread& left, const Spread& right, bool strict, Dtype dtype) {
    const ir::Type type = ir::Type::scalar(dtype);
    const int64_t least = least_int(dtype), most = most_int(dtype);
    auto constant = [&](int64_t value) { return b_.constant_int(type, value); };
    ValueId a = left.base.valid() ? left.base : constant(0);
    ValueId b = right.base.valid() ? right.base : constant(0);
    int64_t distance = left.high - right.low + (strict ? 1 : 0);
    ValueId bound = distance == 0 ? b : b_.make(Op::Sub, {b, constant(distance)});
    ValueId all = compare(a, "le", bound);
    int64_t above = std::max({int64_t{0}, right.high, -distance});
    int64_t below = std::max({int64_t{0}, -right.low, distance});
    if (above > 0) all = b_.make(Op::And, {all, compare(b, "le", constant(most - above))});
    if (below > 0) all = b_.make(Op::And, {all, compare(b, "ge", constant(least + below))});
    if (left.low < 0) all = b_.make(Op::And, {all, compare(a, "ge", constant(least - left.low))});
    return all;
  }
  ValueId compare(ValueId a, const char* pred, ValueId b) {
    return b_.make(Op::Cmp, {a, b}, {{"pred", std::string(pred)}});
  }
  static int64_t most_int(Dtype dtype) { return dtype == Dtype::kI32 ? INT32_MAX : INT64_MAX; }
  static int64_t least_int(Dtype dtype) { return dtype == Dtype::kI32 ? INT32_MIN : INT64_MIN; }

  std::optional<Spread> spread_of(ValueId value, Dtype dtype) {
    if (m_.type(value).is_scalar()) return Spread{value};
    const OpNode* found = m_.def(value);
    if (found == nullptr) return std::nullopt;
    const OpNode def = *found;
    if (rearranges(def.op)) return spread_of(def.operands[0], dtype);
    switch (def.op) {
      case Op::Const:
        return Spread{b_.constant_int(ir::Type::scalar(dtype), def.attrs.get_int("value"))};
      case Op::Arange:
        return Spread{{}, def.attrs.get_int("start"), def.attrs.get_int("end") - 1};
      case Op::Add:
      case Op::Sub: {
        auto a = spread_of(def.operands[0], dtype);
        auto b = a ? spread_of(def.operands[1], dtype) : std::nullopt;
        if (!b) return std::nullopt;
        return combined(def.op, *a, *b, dtype);
      }
      default:
        return std::nullopt;
    }
  }

  std::optional<Spread> combined(Op op, const Spread& a, const Spread& b, Dtype dtype) {
    bool sub = op == Op::Sub;
    Spread sum{a.base, a.low + (sub ? -b.high : b.low), a.high + (sub ? -b.low : b.high)};
    if (sum.low < -kFar || sum.high > kFar) return std::nullopt;
    if (!b.base.valid()) return sum;
    ValueId first = a.base.valid() ? a.base : b_.constant_int(ir::Type::scalar(dtype), 0);
    sum.base = !sub && !a.base.valid() ? b.base : b_.make(op, {first, b.base});
    return sum;
  }

  Module& m_;
  ir::Builder b_;
};

}  // namespace

bool skip_masks(Module& module) {
  bool changed = MaskSkipper(module).run();
  if (!changed) return false;
  canonicalize(module);
  eliminate_common_subexpressions(module);
  hoist_loop_invariants(module);
  eliminate_dead_code(module);
  return true;
}

}  // namespace tilewright::passes
