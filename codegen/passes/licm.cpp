// Moves pure ops whose operands come from outside out of `for` and `while`, innermost loops first.
//
//   for … region(%i: i32) {                  %a: i32 = mul %m, %n
//     %a: i32 = mul %m, %n                   for … region(%i: i32) {
//     %b: i32 = add %a, %i          ->         %b: i32 = add %a, %i
//     …                                        …
//
// No op traps, so what a loop might not have run may run before it. Ops in an `if` inside of the
// loop stay there: they may be the reason for the `if`.
#include "codegen/passes/passes.h"

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

class Hoister {
 public:
  explicit Hoister(Module& module) : module_(module), depth_(module.value_count(), 0) {}

  bool run() {
    visit_region(module_.body, 0);
    return changed_;
  }

 private:
  // `depth` counts enclosing regions; depth_ remembers it for every value. What is defined at a
  // smaller depth than a region's is defined outside of it, because only enclosing regions are
  // visible.
  void visit_region(RegionId region, int depth) {
    for (ValueId arg : module_.region(region).args) depth_[arg.index] = depth;
    std::vector<OpId> ops = std::move(module_.region(region).ops);
    std::vector<OpId> placed;
    placed.reserve(ops.size());
    for (OpId op : ops) {
      for (RegionId nested : module_.op(op).regions) visit_region(nested, depth + 1);
      if (is_loop(op))
        for (RegionId body : module_.op(op).regions) hoist_from(body, region, depth, placed);
      for (ValueId result : module_.op(op).results) depth_[result.index] = depth;
      placed.push_back(op);
    }
    module_.region(region).ops = std::move(placed);
  }

  bool is_loop(OpId op) const {
    return module_.op(op).op == Op::For || module_.op(op).op == Op::While;
  }

  // Moves what does not depend on `body` to the end of `placed`, in the region `to` at `depth`.
  void hoist_from(RegionId body, RegionId to, int depth, std::vector<OpId>& placed) {
    auto& ops = module_.region(body).ops;
    size_t kept = 0;
    for (OpId op : ops) {
      OpNode& node = module_.op(op);
      bool movable = ir::op_info(node.op).has(ir::kPure);
      for (ValueId operand : node.operands) movable = movable && depth_[operand.index] <= depth;
      if (!movable) {
        ops[kept++] = op;
        continue;
      }
      node.parent = to;
      for (ValueId result : node.results) depth_[result.index] = depth;
      placed.push_back(op);
      changed_ = true;
    }
    ops.resize(kept);
  }

  Module& module_;
  std::vector<int> depth_;
  bool changed_ = false;
};

}  // namespace

bool hoist_loop_invariants(Module& module) {
  return Hoister(module).run();
}

}  // namespace tilewright::passes
