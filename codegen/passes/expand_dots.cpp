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
    if (node.op != Op::Dot) return {};
    bool sparse = node.operands.size() == 4, scaled = node.operands.size() == 5;
    bool nibbles = node.attrs.get_int("nibbles", 0) != 0;
    if ((!sparse && !scaled && !nibbles) || native_(module_, node)) return {};
    return sparse ? expand_sparse(node) : scaled ? expand_scaled(node) : expand_nibbles(node);
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

  ValueId reshape(ValueId x, ir::Shape shape) {
    return make(Op::Reshape, Type::tile(module_.type(x).dtype, std::move(shape)), {x});
  }
  ValueId join(ValueId a, ValueId b) {
    Type type = module_.type(a);
    type.shape.push_back(2);
    return make(Op::Join, type, {a, b});
  }
  std::pair<ValueId, ValueId> split(ValueId x) {
    Type type = module_.type(x);
    type.shape.pop_back();
    OpId id = module_.add_op(Op::Split, span_, {x}, {}, {type, type});
    module_.append(region_, id);
    return {module_.op(id).results[0], module_.op(id).results[1]};
  }
  ValueId select_where(ValueId places, int64_t place, ValueId value, ValueId otherwise) {
    const Type type = module_.type(places);
    ValueId here = make(Op::Cmp, type.with_dtype(Dtype::kI1), {places, constant(type, place)},
                        Attrs{{"pred", std::string("eq")}});
    return make(Op::Select, Type(module_.type(value)), {here, value, otherwise});
  }

  // The place of each kept value of a row, as a [rows, kept] tile of i32.
  ValueId places_of(ValueId packed, int64_t kept, int bits) {
    const Type words = module_.type(packed);
    const int64_t rows = words.shape[0], count = words.shape[1], each = kept / count;
    const Type all = Type::tile(Dtype::kI32, {rows, count, each});
    ValueId numbers = make(Op::Arange, Type::tile(Dtype::kI32, {each}), {},
                           Attrs{{"start", int64_t{0}}, {"end", each}});
    const Type vector = module_.type(numbers);
    ValueId shifts =
        reshape(make(Op::Mul, vector, {numbers, constant(vector, bits)}), {1, 1, each});
    ValueId wide = words.dtype == Dtype::kI32
                       ? packed
                       : make(Op::Cast, words.with_dtype(Dtype::kI32), {packed});
    wide = make(Op::Broadcast, all, {reshape(wide, {rows, count, 1})});
    ValueId at = make(Op::Shr, all, {wide, make(Op::Broadcast, all, {shifts})});
    return reshape(make(Op::And, all, {at, constant(all, (1 << bits) - 1)}), {rows, kept});
  }

  // Of each four values of a row two are kept; of f32, one of two.
  ValueId expand_sparse(const OpNode& node) {
    const Type a = module_.type(node.operands[0]);
    const int64_t rows = a.shape[0], kept = a.shape[1];
    // Selected as bits: 8-bit floats are no arithmetic type.
    const bool narrow = is_fp8(a.dtype);
    ValueId values = node.operands[0];
    if (narrow) values = make(Op::Bitcast, a.with_dtype(Dtype::kU8), {values});
    auto zeros = [&](ValueId like) {
      const Type type = module_.type(like);
      return is_float(type.dtype) ? make(Op::Const, type, {}, Attrs{{"value", 0.0}})
                                  : constant(type, 0);
    };
    ValueId dense;
    if (a.dtype == Dtype::kF32) {
      ValueId places = places_of(node.operands[3], kept, 4), none = zeros(values);
      ValueId even = select_where(places, 0b0100, values, none);
      dense = join(even, select_where(places, 0b1110, values, none));
    } else {
      auto [p0, p1] = split(reshape(places_of(node.operands[3], kept, 2), {rows, kept / 2, 2}));
      auto [a0, a1] = split(reshape(values, {rows, kept / 2, 2}));
      ValueId none = zeros(a0);
      ValueId d[4];
      for (int64_t i = 0; i < 4; ++i)
        d[i] = select_where(p0, i, a0, none), d[i] = select_where(p1, i, a1, d[i]);
      ValueId even = join(d[0], d[2]);
      dense = join(even, join(d[1], d[3]));
    }
    dense = reshape(dense, {rows, 2 * kept});
    if (narrow) dense = make(Op::Bitcast, module_.type(dense).with_dtype(a.dtype), {dense});
    return make(Op::Dot, Type(module_.type(node.results[0])),
                {dense, node.operands[1], node.operands[2]}, node.attrs);
  }

  ValueId binary(Op op, ValueId x, int64_t number) {
    const Type type = module_.type(x);
    return make(op, type, {x, constant(type, number)});
  }
  // The bits of f32 numbers.
  ValueId as_float(ValueId bits) {
    return make(Op::Bitcast, module_.type(bits).with_dtype(Dtype::kF32), {bits});
  }
  ValueId transposed(ValueId x) {
    const ir::Shape shape = module_.type(x).shape;
    return make(Op::Permute, Type::tile(module_.type(x).dtype, {shape[1], shape[0]}), {x},
                Attrs{{"order", std::vector<int64_t>{1, 0}}});
  }

  // Two e2m1 numbers in each byte of a row, in f32: sign, exponent and fraction in f32's places are
  // the number short of 2^126.
  ValueId widened_nibbles(ValueId packed) {
    ValueId low = binary(Op::And, packed, 15), high = binary(Op::Shr, packed, 4);
    ValueId pairs = join(low, high);
    const ir::Shape shape = module_.type(packed).shape;
    ValueId code = reshape(pairs, {shape[0], 2 * shape[1]});
    code = make(Op::Cast, module_.type(code).with_dtype(Dtype::kU32), {code});
    ValueId sign = binary(Op::Shl, binary(Op::And, code, 8), 28);
    ValueId rest = binary(Op::Shl, binary(Op::And, code, 7), 22);
    ValueId value = as_float(make(Op::Or, Type(module_.type(code)), {sign, rest}));
    const Type type = module_.type(value);
    return make(Op::Mul, type, {value, make(Op::Const, type, {}, Attrs{{"value", 0x1p126}})});
  }

  // Scales in f32. Of e8m0, 0 is a subnormal and 255 no number.
  ValueId widened_scales(ValueId scales) {
    const Type type = module_.type(scales), wide = type.with_dtype(Dtype::kU32);
    if (type.dtype == Dtype::kF8E4M3) {
      ValueId value = make(Op::Cast, type.with_dtype(Dtype::kF32), {scales});
      return make(Op::Abs, Type(module_.type(value)), {value});
    }
    ValueId code = make(Op::Cast, wide, {scales});
    ValueId bits = binary(Op::Shl, code, 23);
    bits = select_where(code, 0, constant(wide, 0x400000), bits);
    return as_float(select_where(code, 255, constant(wide, 0x7fc00000), bits));
  }

  // An operand with K along its rows, scaled and rounded to bf16.
  ValueId scaled_operand(ValueId x, ValueId scales) {
    const Type type = module_.type(x);
    ValueId wide = type.dtype == Dtype::kU8 ? widened_nibbles(x)
                                            : make(Op::Cast, type.with_dtype(Dtype::kF32), {x});
    const ir::Shape shape = module_.type(wide).shape, groups = module_.type(scales).shape;
    ValueId each = reshape(widened_scales(scales), {groups[0], groups[1], 1});
    each = make(Op::Broadcast,
                Type::tile(Dtype::kF32, {groups[0], groups[1], shape[1] / groups[1]}), {each});
    each = reshape(each, shape);
    ValueId product = make(Op::Mul, Type(module_.type(wide)), {wide, each});
    return make(Op::Cast, Type::tile(Dtype::kBF16, shape), {product});
  }

  // A scaled dot of an fp8 and a nibble operand with the nibbles as e4m3, if that is native.
  ValueId with_bytes(const OpNode& node) {
    OpNode bytes = node;
    const size_t before = module_.region(region_).ops.size();
    const bool is_a = module_.type(node.operands[0]).dtype == Dtype::kU8;
    ValueId& operand = bytes.operands[is_a ? 0 : 1];
    ValueId wide = widened_nibbles(is_a ? operand : transposed(operand));
    ValueId narrow = make(Op::Cast, module_.type(wide).with_dtype(Dtype::kF8E4M3), {wide});
    operand = is_a ? narrow : transposed(narrow);
    if (native_(module_, bytes))
      return make(Op::Dot, Type(module_.type(node.results[0])), bytes.operands);
    std::vector<OpId>& ops = module_.region(region_).ops;
    for (size_t i = before; i < ops.size(); ++i) module_.op(ops[i]).parent = {};
    ops.resize(before);
    return {};
  }

  ValueId expand_scaled(const OpNode& node) {
    const Dtype x = module_.type(node.operands[0]).dtype, y = module_.type(node.operands[1]).dtype;
    if ((x == Dtype::kU8) != (y == Dtype::kU8))
      if (ValueId result = with_bytes(node); result.valid()) return result;
    ValueId a = scaled_operand(node.operands[0], node.operands[3]);
    ValueId b = transposed(scaled_operand(transposed(node.operands[1]), node.operands[4]));
    return make(Op::Dot, Type(module_.type(node.results[0])), {a, b, node.operands[2]});
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
