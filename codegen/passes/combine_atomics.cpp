#include "codegen/passes/combine_atomics.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "dsl/base/numeric.h"

namespace tilewright::passes {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::Type;
using ir::ValueId;

struct Combination {
  Op op;
  ir::AttrValue neutral;
};

int64_t lowest(Dtype dtype) {
  if (!is_signed(dtype)) return 0;
  return dtype_bits(dtype) == 64 ? std::numeric_limits<int64_t>::min()
                                 : -(int64_t{1} << (dtype_bits(dtype) - 1));
}
// All ones where unsigned, as the IR writes it.
int64_t highest(Dtype dtype) {
  if (is_signed(dtype)) return -(lowest(dtype) + 1);
  return dtype_bits(dtype) == 64 ? -1 : (int64_t{1} << dtype_bits(dtype)) - 1;
}

std::optional<Combination> combination_of(const OpNode& atomic, Dtype dtype) {
  std::string_view op = atomic.attrs.get_word("op");
  if (is_float(dtype)) {
    if (op != "add") return std::nullopt;
    return Combination{Op::Add, -0.0};
  }
  if (op == "add") return Combination{Op::Add, int64_t{0}};
  if (op == "or") return Combination{Op::Or, int64_t{0}};
  if (op == "xor") return Combination{Op::Xor, int64_t{0}};
  if (op == "and") return Combination{Op::And, is_signed(dtype) ? int64_t{-1} : highest(dtype)};
  if (op == "max") return Combination{Op::Max, lowest(dtype)};
  if (op == "min") return Combination{Op::Min, highest(dtype)};
  return std::nullopt;
}

class Combiner {
 public:
  explicit Combiner(Module& module) : module_(module), used_(module.value_count()) {
    ir::walk(module, module.body, [&](OpId id) {
      for (ValueId operand : module_.op(id).operands) used_[operand.index] = true;
    });
  }

  bool run() {
    visit(module_.body);
    return changed_;
  }

 private:
  void visit(RegionId region) {
    const std::vector<OpId> ops = module_.region(region).ops;
    for (OpId id : ops) {
      if (module_.op(id).op == Op::AtomicRmw) combine(region, id);
      const std::vector<RegionId> nested = module_.op(id).regions;
      for (RegionId inner : nested) visit(inner);
    }
  }

  void combine(RegionId region, OpId id) {
    const OpNode node = module_.op(id);
    const OpNode* pointers = module_.def(node.operands[0]);
    if (used_[node.results[0].index] || pointers == nullptr) return;
    if (pointers->op != Op::Splat && pointers->op != Op::Broadcast) return;
    const Type type = module_.type(node.results[0]);
    auto how = combination_of(node, type.dtype);
    const ValueId narrow = pointers->operands[0];
    if (!how || type.element_count() == 1) return;
    region_ = region;
    before_ = id;
    ValueId value = node.operands[1], mask;
    if (node.operands.size() > 2) {
      mask = node.operands[2];
      ValueId neutral = make(Op::Const, {}, {{"value", how->neutral}}, type);
      value = make(Op::Select, {mask, value, neutral}, {}, type);
      mask = fold(mask, Op::Or, module_.type(narrow));
    }
    value = fold(value, how->op, module_.type(narrow));
    std::vector<ValueId> operands = {narrow, value};
    if (mask.valid()) operands.push_back(mask);
    make(Op::AtomicRmw, operands, node.attrs, module_.type(value));
    std::erase(module_.region(region).ops, id);
    changed_ = true;
  }

  // Folds a tile to the shape of `pointers`: to a scalar, or along its unit dimensions.
  ValueId fold(ValueId x, Op op, const Type pointers) {
    Type type = module_.type(x);
    if (pointers.is_scalar()) {
      if (type.rank() > 1) {
        type = type.with_shape({type.element_count()});
        x = make(Op::Reshape, {x}, {{"reorder", int64_t{1}}}, type);
      }
      return reduce(x, op, 0);
    }
    for (int64_t d = type.rank(); d-- > 0;) {
      auto dim = static_cast<size_t>(d);
      if (pointers.shape[dim] == module_.type(x).shape[dim]) continue;
      ir::Shape shape = module_.type(x).shape;
      shape[dim] = 1;
      x = reduce(x, op, d);
      x = make(Op::ExpandDims, {x}, {{"axis", d}}, type.with_shape(shape));
    }
    return x;
  }

  ValueId reduce(ValueId x, Op op, int64_t axis) {
    ir::Shape shape = module_.type(x).shape;
    shape.erase(shape.begin() + axis);
    const Type element = module_.type(x).element();
    OpId id = add(Op::Reduce, {x}, {{"axis", axis}}, module_.type(x).with_shape(shape));
    RegionId body = module_.add_region(id);
    ValueId a = module_.add_region_arg(body, element), b = module_.add_region_arg(body, element);
    OpId both = module_.add_op(op, module_.op(id).span, {a, b}, {}, {element});
    module_.append(body, both);
    ValueId result = module_.op(both).results[0];
    module_.append(body, module_.add_op(Op::Yield, module_.op(id).span, {result}, {}, {}));
    return module_.op(id).results[0];
  }

  // In front of the atomic.
  OpId add(Op op, std::vector<ValueId> operands, ir::Attrs attrs, const Type& type) {
    OpId id =
        module_.add_op(op, module_.op(before_).span, std::move(operands), std::move(attrs), {type});
    const std::vector<OpId>& ops = module_.region(region_).ops;
    module_.insert(region_, static_cast<size_t>(std::ranges::find(ops, before_) - ops.begin()), id);
    return id;
  }
  ValueId make(Op op, std::vector<ValueId> operands, ir::Attrs attrs, const Type& type) {
    return module_.op(add(op, std::move(operands), std::move(attrs), type)).results[0];
  }

  Module& module_;
  std::vector<bool> used_;
  RegionId region_;
  OpId before_;
  bool changed_ = false;
};

}  // namespace

bool combine_atomics(Module& module) {
  bool changed = Combiner(module).run();
  if (changed) module.compact();
  return changed;
}

}  // namespace tilewright::passes
