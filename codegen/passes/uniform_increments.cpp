// A tile that a loop carries and moves by the same amount everywhere becomes a tile from outside
// and a carried scalar.
//
//   %b: tile<64xptr<f16>> = splat %x
//   %p: tile<64xptr<f16>> = ptr_add %b, %o        for … %x region(…, %x.1: ptr<f16>) {
//   for … %p region(…, %p.1) {                      %b: tile<64xptr<f16>> = splat %x.1
//     … %p.1 …                            ->        %p.1: tile<64xptr<f16>> = ptr_add %b, %o
//     %s: tile<64xi32> = splat %k                   … %p.1 …
//     %p.2 = ptr_add %p.1, %s                       %x.2: ptr<f16> = ptr_add %x.1, %k
//     yield %p.2                                    yield %x.2
//   }                                             }
//
// Pointers are built anew on the scalar they start from, so the scalar is a pointer and sums stay
// 64 bits wide; where they start from no single one, the scalar is an i64 offset. Integers become
// the initial tile plus a scalar of their type, which wraps around as they do.
//
// Without this every register of such a tile changes in every iteration; with it the tile is the
// same in all of them, can be made in any layout, and its value some iterations ahead costs one
// scalar addition.
#include <algorithm>
#include <optional>

#include "codegen/ir/builder.h"
#include "codegen/passes/passes.h"

namespace tilewright::passes {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::Type;
using ir::ValueId;

// One addition of a chain, and what it adds to every element: a scalar, or the constant of a tile.
struct Increment {
  OpId op;
  ValueId amount;  // splat's operand; invalid for a constant
  ir::AttrValue constant;
  Type element;
};

class UniformIncrements {
 public:
  explicit UniformIncrements(ir::Module& module) : m_(module), b_(module) {}

  bool run() {
    visit(m_.body);
    return changed_;
  }

 private:
  void visit(RegionId region) {
    for (OpId id : std::vector(m_.region(region).ops)) {
      for (RegionId nested : std::vector(m_.op(id).regions)) visit(nested);
      if (m_.op(id).op == Op::For) rewrite(id);
    }
  }

  void rewrite(OpId loop) {
    for (size_t j = 0; j < m_.op(loop).results.size(); ++j) {
      const Type type = m_.type(m_.op(loop).results[j]);
      if (!type.is_tile() || (!type.is_pointer && !is_int(type.dtype))) continue;
      auto chain = find_chain(loop, j);
      if (chain) replace(loop, j, *chain);
    }
  }

  // ---- the pattern ----

  std::optional<Increment> as_uniform(OpId op, ValueId value) {
    const OpNode* def = m_.def(value);
    if (def == nullptr) return std::nullopt;
    Type element = m_.type(value).element();
    if (def->op == Op::Splat) return Increment{op, def->operands[0], {}, element};
    if (def->op == Op::Const) return Increment{op, {}, *def->attrs.find("value"), element};
    return std::nullopt;
  }

  // The additions from the carried value to what is yielded, last one first.
  std::optional<std::vector<Increment>> find_chain(OpId loop, size_t j) {
    RegionId body = m_.op(loop).regions[0];
    ValueId arg = m_.region(body).args[1 + j];
    ValueId at = m_.op(m_.region(body).ops.back()).operands[j];
    std::vector<Increment> chain;
    while (at != arg) {
      OpId id = m_.value(at).def;
      if (!id.valid() || m_.op(id).parent != body) return std::nullopt;
      const OpNode& op = m_.op(id);
      if (op.op != Op::PtrAdd && op.op != Op::Add && op.op != Op::Sub) return std::nullopt;
      size_t base = op.op == Op::Add && !as_uniform(id, op.operands[1]) ? 1 : 0;
      auto increment = as_uniform(id, op.operands[1 - base]);
      if (!increment) return std::nullopt;
      chain.push_back(*increment);
      at = op.operands[base];
    }
    if (chain.empty()) return std::nullopt;
    return chain;
  }

  // The scalar pointer that a tile of pointers starts from, through ops that can be done again.
  ValueId start_of(ValueId tile) {
    const OpNode* def = m_.def(tile);
    if (def == nullptr) return {};
    switch (def->op) {
      case Op::Splat:
        return def->operands[0];
      case Op::PtrAdd:
      case Op::Broadcast:
      case Op::ExpandDims:
      case Op::Reshape:
      case Op::Permute:
        return start_of(def->operands[0]);
      default:
        return {};
    }
  }
  // The tile with another scalar in its start's place, made at the builder's place.
  ValueId rebuild(ValueId tile, ValueId start) {
    OpNode def = *m_.def(tile);
    def.operands[0] = def.op == Op::Splat ? start : rebuild(def.operands[0], start);
    ValueId made = b_.make_as(def.op, m_.type(tile), def.operands, def.attrs);
    m_.value(made).name = m_.value(tile).name;
    return made;
  }

  // ---- the rewrite ----

  // The tile for a value of the carried scalar.
  ValueId tile_of(ValueId initial, bool has_start, ValueId scalar) {
    if (has_start) return rebuild(initial, scalar);
    const Type type = m_.type(initial);
    Type offsets = type.is_pointer ? Type::tile(Dtype::kI64, type.shape) : type;
    ValueId same = b_.make_as(Op::Splat, offsets, {scalar});
    return b_.make(type.is_pointer ? Op::PtrAdd : Op::Add, {initial, same});
  }

  ValueId advance(ValueId scalar, const Increment& increment) {
    ValueId amount = increment.amount;
    if (!amount.valid())
      amount = b_.make_as(Op::Const, increment.element, {}, {{"value", increment.constant}});
    const Type type = m_.type(scalar);
    if (type.is_pointer) return b_.make(Op::PtrAdd, {scalar, amount});
    if (m_.type(amount) != type) amount = b_.make_as(Op::Cast, type, {amount});
    return b_.make(m_.op(increment.op).op == Op::Sub ? Op::Sub : Op::Add, {scalar, amount});
  }

  void replace(OpId loop, size_t j, const std::vector<Increment>& chain) {
    RegionId body = m_.op(loop).regions[0];
    ValueId initial = m_.op(loop).operands[3 + j], arg = m_.region(body).args[1 + j];
    ValueId result = m_.op(loop).results[j], start;
    const Type tile = m_.type(arg);
    if (tile.is_pointer) start = start_of(initial);
    Type scalar = tile.is_pointer && !start.valid() ? Type::scalar(Dtype::kI64) : tile.element();
    b_.set_span(m_.op(loop).span);

    RegionId before = m_.add_region({}), first = m_.add_region({}), last = m_.add_region({});
    RegionId after = m_.add_region({});
    b_.set_region(before);
    ValueId from = start.valid() ? start : b_.constant_int(scalar, 0);
    // The argument and the result become scalars; the tiles that stood in their place are new.
    ValueId arg_tile = made_for(first, arg, initial, start.valid(), scalar);
    ValueId result_tile = made_for(after, result, initial, start.valid(), scalar);
    b_.set_region(last);
    ValueId next = arg;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) next = advance(next, *at);

    m_.value(arg_tile).name = m_.value(arg).name;
    m_.value(result_tile).name = m_.value(result).name;
    m_.op(loop).operands[3 + j] = from;
    m_.op(m_.region(body).ops.back()).operands[j] = next;
    auto& ops = m_.region(body).ops;
    splice(first, body, 0);
    splice(last, body, ops.size() - 1);
    RegionId parent = m_.op(loop).parent;
    auto place = [&] {
      return std::ranges::find(m_.region(parent).ops, loop) - m_.region(parent).ops.begin();
    };
    splice(before, parent, static_cast<size_t>(place()));
    splice(after, parent, static_cast<size_t>(place()) + 1);
    changed_ = true;
  }

  // Makes the tile of `scalar_value`, which is still typed as the tile, in a region, and has it
  // take over all uses.
  ValueId made_for(RegionId region, ValueId value, ValueId initial, bool has_start,
                   const Type& scalar) {
    b_.set_region(region);
    // A stand-in keeps the uses inside the new tile apart from those that are replaced.
    ValueId stand_in = m_.add_region_arg(region, scalar);
    ValueId tile = tile_of(initial, has_start, stand_in);
    m_.replace_uses(value, tile);
    m_.value(value).type = scalar;
    m_.replace_uses(stand_in, value);
    return tile;
  }

  void splice(RegionId from, RegionId to, size_t position) {
    std::vector<OpId> ops = std::move(m_.region(from).ops);
    m_.region(from).ops.clear();
    for (OpId id : ops) {
      m_.op(id).parent = {};
      m_.insert(to, position++, id);
    }
  }

  ir::Module& m_;
  ir::Builder b_;
  bool changed_ = false;
};

}  // namespace

bool make_increments_uniform(ir::Module& module) {
  return UniformIncrements(module).run();
}

}  // namespace tilewright::passes
