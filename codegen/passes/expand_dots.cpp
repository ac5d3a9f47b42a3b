#include "codegen/passes/expand_dots.h"

#include <utility>

namespace tilewright::passes {
namespace {

using ir::Attrs;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::Type;
using ir::ValueId;

class Expander {
 public:
  Expander(ir::Module& module, const std::function<bool(const ir::Module&, const OpNode&)>& native)
      : module_(module), native_(native) {}

  bool run() {
    visit(module_.body);
    return changed_;
  }

 private:
  void visit(ir::RegionId region) {
    std::vector<OpId> ops = std::move(module_.region(region).ops);
    module_.region(region).ops.clear();
    for (OpId id : ops) {
      for (ir::RegionId nested : module_.op(id).regions) visit(nested);
      region_ = region;
      span_ = module_.op(id).span;
      OpNode node = module_.op(id);
      ValueId result = expand(node);
      if (!result.valid()) {
        module_.region(region).ops.push_back(id);
        continue;
      }
      module_.value(result).name = module_.value(node.results[0]).name;
      module_.replace_uses(node.results[0], result);
      module_.op(id).parent = {};
      changed_ = true;
    }
  }

  ValueId expand(const OpNode& node) {
    if (node.op == Op::Dot && node.attrs.get_int("nibbles", 0) != 0 && !native_(module_, node))
      return expand_nibbles(node);
    return {};
  }

  ValueId make(Op op, const Type& type, std::vector<ValueId> operands, Attrs attrs = {}) {
    OpId id = module_.add_op(op, span_, std::move(operands), std::move(attrs), {type});
    module_.append(region_, id);
    return module_.op(id).results[0];
  }
  ValueId constant(const Type& type, int64_t value) {
    return make(Op::Const, type, {}, Attrs{{"value", value}});
  }

  ValueId nibble(ValueId x, bool high) {
    const Type type = module_.type(x);
    ValueId four = constant(type, 4);
    if (high) return make(Op::Shr, type, {x, four});
    if (type.dtype == Dtype::kU8) return make(Op::And, type, {x, constant(type, 15)});
    return make(Op::Shr, type, {make(Op::Shl, type, {x, four}), four});
  }

  ValueId expand_nibbles(const OpNode& node) {
    ValueId sum = node.operands[2];
    for (bool high : {false, true})
      sum = make(Op::Dot, Type(module_.type(node.results[0])),
                 {nibble(node.operands[0], high), nibble(node.operands[1], high), sum});
    return sum;
  }

  ir::Module& module_;
  const std::function<bool(const ir::Module&, const OpNode&)>& native_;
  ir::RegionId region_;
  Span span_;
  bool changed_ = false;
};

}  // namespace

bool expand_dots(ir::Module& module,
                 const std::function<bool(const ir::Module&, const OpNode&)>& native) {
  return Expander(module, native).run();
}

}  // namespace tilewright::passes
