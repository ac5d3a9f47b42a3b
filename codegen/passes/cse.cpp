// Merges pure ops that compute the same, in the order of the text.
//
//   %a: i32 = mul %m, %n                     %a: i32 = mul %m, %n
//   for … region(%i: i32) {                  for … region(%i: i32) {
//     %b: i32 = mul %n, %m          ->         %c: i32 = add %a, %i
//     %c: i32 = add %b, %i                     yield
//     yield                                  }
//   }
//
// An op can be replaced by one that stands before it in its own or an enclosing region; what a
// region adds to the table goes when the region ends. The region of a reduction or scan sees
// nothing from outside and starts with an empty table.
#include <unordered_map>

#include "codegen/passes/fold.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/walk.h"

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

uint64_t mix(uint64_t seed, uint64_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29);
}

uint64_t hash_attr(const ir::AttrValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<uint64_t>(*integer);
  if (const auto* word = std::get_if<std::string>(&value)) return std::hash<std::string>{}(*word);
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  uint64_t hash = 7;
  for (size_t i = 0; list && i < list->size(); ++i)
    hash = mix(hash, static_cast<uint64_t>((*list)[i]));
  return hash;
}

class Merger {
 public:
  explicit Merger(Module& module) : module_(module), replacement_(module) {}

  bool run() {
    visit_region(module_.body);
    return changed_;
  }

 private:
  void visit_region(RegionId id) {
    size_t scope = added_.size();
    auto& ops = module_.region(id).ops;
    size_t kept = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      OpId op = ops[i];
      if (visit(op))
        module_.op(op).parent = {};
      else
        ops[kept++] = op;
    }
    ops.resize(kept);
    while (added_.size() > scope) {
      table_.erase(added_.back());
      added_.pop_back();
    }
  }

  // Returns whether the op is replaced by another.
  bool visit(OpId id) {
    OpNode& node = module_.op(id);
    for (ValueId& operand : node.operands) operand = replacement_.resolve(operand);
    if (ir::op_info(node.op).has(ir::kCombines)) {
      Table outer;
      std::vector<Table::iterator> outer_added;
      std::swap(outer, table_);
      std::swap(outer_added, added_);
      visit_region(node.regions[0]);
      std::swap(outer, table_);
      std::swap(outer_added, added_);
      return false;
    }
    for (RegionId region : node.regions) visit_region(region);
    if (!ir::op_info(node.op).has(ir::kPure)) return false;
    uint64_t hash = hash_of(node);
    auto [begin, end] = table_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const OpNode& other = module_.op(it->second);
      if (!same(node, other)) continue;
      for (size_t i = 0; i < node.results.size(); ++i)
        replacement_.set(node.results[i], other.results[i]);
      return changed_ = true;
    }
    added_.push_back(table_.emplace(hash, id));
    return false;
  }

  bool is_swappable(const OpNode& node) const {
    return ir::op_info(node.op).has(ir::kCommutative) && node.operands[1] < node.operands[0];
  }

  uint64_t hash_of(const OpNode& node) const {
    auto hash = static_cast<uint64_t>(node.op);
    const auto& x = node.operands;
    bool swap = is_swappable(node);
    for (size_t i = 0; i < x.size(); ++i) hash = mix(hash, x[swap && i < 2 ? 1 - i : i].index);
    const ir::Type& type = module_.type(node.results[0]);
    for (int64_t extent : type.shape) hash = mix(hash, static_cast<uint64_t>(extent));
    hash = mix(hash, static_cast<uint64_t>(type.dtype) * 2 + type.is_pointer);
    if (node.op == Op::Const) return mix(hash, constant_bits(*node.attrs.find("value"), type));
    for (const auto& [key, value] : node.attrs) hash = mix(hash, hash_attr(value));
    return hash;
  }

  bool same(const OpNode& a, const OpNode& b) const {
    if (a.op != b.op || a.operands.size() != b.operands.size()) return false;
    bool swap = is_swappable(a) != is_swappable(b);
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (a.operands[i] != b.operands[swap && i < 2 ? 1 - i : i]) return false;
    for (size_t i = 0; i < a.results.size(); ++i)
      if (module_.type(a.results[i]) != module_.type(b.results[i])) return false;
    const ir::Type& type = module_.type(a.results[0]);
    if (a.op == Op::Const)
      return constant_bits(*a.attrs.find("value"), type) ==
             constant_bits(*b.attrs.find("value"), type);
    return a.attrs == b.attrs;
  }

  using Table = std::unordered_multimap<uint64_t, OpId>;

  Module& module_;
  ReplacementMap replacement_;
  Table table_;
  std::vector<Table::iterator> added_;
  bool changed_ = false;
};

}  // namespace

bool eliminate_common_subexpressions(Module& module) {
  return Merger(module).run();
}

}  // namespace tilewright::passes
