// One rounding instead of two where a float product has a sum as its only use (dsl/LANGUAGE.md,
// "contraction").
//
//   %p: f32 = mul %a, %b
//   %r: f32 = add %p, %c          ->   %r: f32 = fma %a, %b, %c
//
//   add %c, %p                    ->   fma %a, %b, %c
//   sub %p, %c                    ->   fma %a, %b, (neg %c)
//   sub %c, %p                    ->   fma (neg %a), %b, %c
//
// Of two products the left one is contracted. The neg's are exact.
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

class Contractor {
 public:
  explicit Contractor(Module& module) : module_(module), uses_(count_uses(module)) {}

  bool run() {
    visit_region(module_.body);
    if (removed_) remove(module_.body);
    return removed_;
  }

 private:
  void visit_region(RegionId region) {
    std::vector<OpId> ops = std::move(module_.region(region).ops);
    module_.region(region).ops.clear();
    for (OpId op : ops) {
      for (RegionId nested : module_.op(op).regions) visit_region(nested);
      contract(op, region);
      module_.region(region).ops.push_back(op);
    }
  }

  void contract(OpId id, RegionId region) {
    OpNode& node = module_.op(id);
    if (node.op != Op::Add && node.op != Op::Sub) return;
    const ir::Type type = module_.type(node.results[0]);
    if (type.is_pointer || !is_float(type.dtype)) return;
    int side = is_single_product(node.operands[0])   ? 0
               : is_single_product(node.operands[1]) ? 1
                                                     : -1;
    if (side < 0) return;
    OpNode& product = module_.op(module_.value(node.operands[side]).def);
    ValueId a = product.operands[0], b = product.operands[1], c = node.operands[1 - side];
    product.results.clear();  // marks it as gone
    removed_ = true;
    if (node.op == Op::Sub) (side == 0 ? c : a) = negate(side == 0 ? c : a, node.span, region);
    OpNode& sum = module_.op(id);  // negate may have moved it
    sum.op = Op::Fma;
    sum.operands = {a, b, c};
    sum.attrs = {};
  }

  bool is_single_product(ValueId id) const {
    const OpNode* def = module_.def(id);
    return def && def->op == Op::Mul && id.index < uses_.size() && uses_[id.index] == 1;
  }

  ValueId negate(ValueId x, Span span, RegionId region) {
    OpId neg = module_.add_op(Op::Neg, span, {x}, {}, {ir::Type(module_.type(x))});
    module_.append(region, neg);
    return module_.op(neg).results[0];
  }

  // Takes the contracted products out of their regions.
  void remove(RegionId region) {
    auto& ops = module_.region(region).ops;
    std::erase_if(ops, [&](OpId op) {
      bool gone = module_.op(op).op == Op::Mul && module_.op(op).results.empty();
      if (gone) module_.op(op).parent = {};
      return gone;
    });
    for (OpId op : ops)
      for (RegionId nested : module_.op(op).regions) remove(nested);
  }

  Module& module_;
  std::vector<int> uses_;
  bool removed_ = false;
};

}  // namespace

std::vector<int> count_uses(const Module& module) {
  std::vector<int> uses(module.value_count());
  ir::walk(module, module.body, [&](OpId op) {
    for (ValueId operand : module.op(op).operands) ++uses[operand.index];
  });
  return uses;
}

bool contract_fma(Module& module) {
  return Contractor(module).run();
}

}  // namespace tilewright::passes
