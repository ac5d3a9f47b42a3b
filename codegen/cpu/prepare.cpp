#include "codegen/cpu/prepare.h"

#include <optional>

#include "dsl/base/check.h"

namespace tilewright::cpu {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// Where new ops go: before position `at` of a region.
struct Point {
  ir::RegionId region;
  size_t at;
};

size_t position_of(const ir::Module& module, OpId op) {
  const auto& ops = module.region(module.op(op).parent).ops;
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i] == op) return i;
  TW_UNREACHABLE("an op is not in its region");
}

ValueId insert_op(ir::Module& module, Point& point, Span span, Op op, const ir::Type& type,
                  std::vector<ValueId> operands, ir::Attrs attrs = {}) {
  OpId id = module.add_op(op, span, std::move(operands), std::move(attrs), {type});
  module.insert(point.region, point.at++, id);
  return module.op(id).results[0];
}

// The scalar that a tile holds in every element: a splat's operand, or a constant's value.
struct Uniform {
  std::optional<ValueId> scalar;
  std::optional<int64_t> constant;
};

std::optional<Uniform> uniform_of(const ir::Module& module, ValueId tile) {
  const OpNode* def = module.def(tile);
  while (def &&
         (def->op == Op::Broadcast || def->op == Op::ExpandDims || def->op == Op::Reshape ||
          def->op == Op::Permute) &&
         module.type(def->operands[0]).is_tile())
    def = module.def(def->operands[0]);
  if (!def) return std::nullopt;
  if (def->op == Op::Splat) return Uniform{def->operands[0], {}};
  if (def->op == Op::Const) return Uniform{{}, def->attrs.get_int("value")};
  return std::nullopt;
}

class Rewriter {
 public:
  explicit Rewriter(ir::Module& module) : module_(module) {}

  void run() {
    std::vector<OpId> loops;
    ir::walk(module_, module_.body, [&](OpId id) {
      if (module_.op(id).op == Op::For) loops.push_back(id);
    });
    // Inner loops first: their results then are moved bases too, which outer loops may carry.
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
      for (size_t i = 0; i < module_.op(*loop).results.size(); ++i) rewrite(*loop, i);
  }

 private:
  // The uniform step of carried value `i`, if all that happens to it is moving by one.
  std::optional<Uniform> step_of(const OpNode& loop, size_t i) {
    const ir::Region& body = module_.region(loop.regions[0]);
    ValueId arg = body.args[i + 1];
    const ir::Type& type = module_.type(arg);
    if (!type.is_tile() || (!type.is_pointer && (!is_int(type.dtype) || type.dtype == Dtype::kI1)))
      return std::nullopt;
    const OpNode& yield = module_.op(body.ops.back());
    const OpNode* next = module_.def(yield.operands[i]);
    if (!next || next->op != (type.is_pointer ? Op::PtrAdd : Op::Add)) return std::nullopt;
    if (next->operands[0] == arg) return uniform_of(module_, next->operands[1]);
    if (!type.is_pointer && next->operands[1] == arg) return uniform_of(module_, next->operands[0]);
    return std::nullopt;
  }

  // init moved by the scalar `distance`, in place of `replaced`.
  void rebuild(Point point, Span span, ValueId replaced, ValueId init, ValueId distance,
               const ir::Type& tile) {
    size_t first = module_.op_count();
    Op op = tile.is_pointer ? Op::PtrAdd : Op::Add;
    ir::Type distances = module_.type(distance).with_shape(tile.shape);
    ValueId spread = insert_op(module_, point, span, Op::Splat, distances, {distance});
    ValueId moved = insert_op(module_, point, span, op, tile, {init, spread});
    module_.value(moved).name = module_.value(replaced).name;
    module_.replace_uses(replaced, moved);
    // The new ops are the only ones that go on using what was replaced.
    module_.op(OpId{static_cast<uint32_t>(first)}).operands[0] = distance;
  }

  void rewrite(OpId loop_id, size_t i) {
    std::optional<Uniform> step = step_of(module_.op(loop_id), i);
    if (!step) return;
    Span span = module_.op(loop_id).span;
    ir::RegionId body = module_.op(loop_id).regions[0];
    ir::RegionId parent = module_.op(loop_id).parent;
    ValueId arg = module_.region(body).args[i + 1];
    ValueId result = module_.op(loop_id).results[i];
    ir::Type tile = module_.type(arg);
    ir::Type scalar = ir::Type::scalar(tile.is_pointer ? Dtype::kI64 : tile.dtype);

    Point before{parent, position_of(module_, loop_id)};
    ValueId zero =
        insert_op(module_, before, span, Op::Const, scalar, {}, ir::Attrs{{"value", int64_t{0}}});
    ValueId init = module_.op(loop_id).operands[i + 3];
    module_.op(loop_id).operands[i + 3] = zero;
    module_.value(arg).type = scalar;
    module_.value(result).type = scalar;

    OpId yield = module_.region(body).ops.back();
    Point at_end{body, module_.region(body).ops.size() - 1};
    ValueId amount = step->scalar ? *step->scalar
                                  : insert_op(module_, at_end, span, Op::Const, scalar, {},
                                              ir::Attrs{{"value", *step->constant}});
    if (module_.type(amount) != scalar)
      amount = insert_op(module_, at_end, span, Op::Cast, scalar, {amount});
    ValueId next = insert_op(module_, at_end, span, Op::Add, scalar, {arg, amount});
    OpId next_id = module_.value(next).def;

    rebuild({body, 0}, span, arg, init, arg, tile);
    module_.op(next_id).operands[0] = arg;
    module_.op(yield).operands[i] = next;
    rebuild({parent, position_of(module_, loop_id) + 1}, span, result, init, result, tile);
  }

  ir::Module& module_;
};

}  // namespace

void scalarize_induction(ir::Module& module) {
  Rewriter(module).run();
}

}  // namespace tilewright::cpu
