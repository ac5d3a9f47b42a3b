// The driver of local rewrites: visits the ops in text order, so that an op's operands are already
// in their final form, and asks the rules of its op for a replacement. Repeats until a whole sweep
// changes nothing.
//
// A rule never changes uses itself: it returns values that replace the op's results, and every
// operand is looked up again when its user is visited. Ops that a rule makes are simplified as they
// are made and stand just before the op that is being replaced.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::passes {

class Rewriter;

// One value for each result of the op, or nothing if the rule does not apply.
using Replacement = std::optional<std::vector<ir::ValueId>>;

struct Rule {
  ir::Op op;
  std::string_view name;  // for tests and statistics
  // `node` is a copy: making ops does not invalidate it. Its operands are in their final form.
  Replacement (*apply)(Rewriter& rw, ir::OpId id, const ir::OpNode& node);
  // Ops with regions: asked after their regions have been visited instead of before.
  bool after_regions = false;
};

class Rewriter {
 public:
  // Rules are tried in order; an index by op is made here.
  Rewriter(ir::Module& module, std::span<const Rule* const> rules);

  // Runs to the fixed point. Returns whether anything changed.
  bool run();
  // How often each rule was applied, by its index in `rules`.
  const std::vector<int>& hits() const { return hits_; }

  // ---- for rules ----
  ir::Module& module() { return module_; }
  const ir::Type& type(ir::ValueId id) const { return module_.type(id); }
  // The value that stands for `id` now.
  ir::ValueId resolve(ir::ValueId id);
  // The op that defines a value if it is an `op`, else null. Invalidated by making ops.
  const ir::OpNode* def_as(ir::ValueId id, ir::Op op);
  // The element bits if the value is a constant (of any shape).
  std::optional<uint64_t> constant(ir::ValueId id);

  ir::ValueId make(ir::Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs = {});
  ir::ValueId make_as(ir::Op op, ir::Type type, std::vector<ir::ValueId> operands,
                      ir::Attrs attrs = {});
  std::vector<ir::ValueId> make_op(ir::Op op, std::vector<ir::ValueId> operands, ir::Attrs attrs,
                                   const std::vector<ir::Type>& types);
  // A constant with these element bits, or an invalid id if no number stands for them.
  ir::ValueId make_constant(const ir::Type& type, uint64_t bits);

  // Puts the ops of a region (but its terminator) where the current op stands, with `arguments` for
  // its arguments, and returns what the terminator passes on. The region is empty afterwards.
  std::vector<ir::ValueId> inline_region(ir::RegionId region,
                                         std::span<const ir::ValueId> arguments);
  // An op that takes over the regions of the one that is being replaced. They have been visited and
  // are visited again in the next sweep only.
  std::vector<ir::ValueId> make_with_regions(ir::Op op, std::vector<ir::ValueId> operands,
                                             ir::Attrs attrs, const std::vector<ir::Type>& types,
                                             const std::vector<ir::RegionId>& regions);
  // Replaces a region argument. Uses that have been visited already follow in the next sweep.
  void replace_argument(ir::ValueId argument, ir::ValueId by);

 private:
  void visit_region(ir::RegionId region);
  void visit(ir::OpId id);
  bool apply_rules(ir::OpId id, bool after_regions);
  void replace(ir::ValueId from, ir::ValueId to);

  ir::Module& module_;
  std::span<const Rule* const> rules_;
  std::vector<std::vector<int>> rules_of_;  // by op: indices into rules_
  std::vector<int> hits_;
  std::vector<ir::ValueId> replacement_;  // by value; invalid = itself
  ir::RegionId region_;                   // where ops are put
  Span span_;                             // of the op being replaced
  int depth_ = 0;
  bool changed_ = false;
};

}  // namespace tilewright::passes
