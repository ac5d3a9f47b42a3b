#include "codegen/passes/transpose_dots.h"

#include <numeric>
#include <utility>
#include <vector>

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::Type;
using ir::ValueId;

class Transposer {
 public:
  Transposer(ir::Module& module, const std::set<OpId>& dots) : module_(module), dots_(dots) {}

  void visit(ir::RegionId region) {
    std::vector<OpId> ops = std::move(module_.region(region).ops);
    module_.region(region).ops.clear();
    for (OpId id : ops) {
      for (ir::RegionId nested : module_.op(id).regions) visit(nested);
      if (!dots_.contains(id)) {
        module_.region(region).ops.push_back(id);
        continue;
      }
      const OpNode node = module_.op(id);
      ValueId result = transposed_dot(region, node);
      module_.value(result).name = module_.value(node.results[0]).name;
      module_.replace_uses(node.results[0], result);
      module_.op(id).parent = {};
    }
  }

 private:
  ValueId make(ir::RegionId region, const OpNode& dot, Op op, const Type& type,
               std::vector<ValueId> operands, ir::Attrs attrs) {
    OpId id = module_.add_op(op, dot.span, std::move(operands), std::move(attrs), {type});
    module_.append(region, id);
    return module_.op(id).results[0];
  }

  ValueId transpose(ir::RegionId region, const OpNode& dot, ValueId x) {
    Type type = module_.type(x);
    std::swap(type.shape[type.shape.size() - 1], type.shape[type.shape.size() - 2]);
    std::vector<int64_t> order(type.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return make(region, dot, Op::Permute, type, {x}, {{"order", std::move(order)}});
  }

  ValueId transposed_dot(ir::RegionId region, const OpNode& dot) {
    std::vector<ValueId> operands;
    for (int i : {1, 0, 2}) operands.push_back(transpose(region, dot, dot.operands[i]));
    const Type type = module_.type(operands[2]);
    ValueId product = make(region, dot, Op::Dot, type, std::move(operands), dot.attrs);
    return transpose(region, dot, product);
  }

  ir::Module& module_;
  const std::set<OpId>& dots_;
};

}  // namespace

void transpose_dots(ir::Module& module, const std::set<OpId>& dots) {
  if (!dots.empty()) Transposer(module, dots).visit(module.body);
}

}  // namespace tilewright::passes
