// Result types by the op table's type rules. Only what a rule needs to give a sensible type is
// checked here; everything else an op asks of its operands is in op_rules.cpp.
#include <algorithm>
#include <bit>

#include "codegen/ir/module.h"
#include "dsl/base/check.h"

namespace tilewright::ir {
namespace {

using Types = std::vector<Type>;

struct Query {
  const Module& module;
  Op op;
  const std::vector<ValueId>& operands;
  const Attrs& attrs;

  const Type& type(size_t i) const { return module.type(operands[i]); }
  std::string name(size_t i) const {
    return "'" + std::string(operand_spec(op).name(static_cast<int>(i))) + "'";
  }
};

ErrorInfo type_error(const Query& q, const std::string& message) {
  return make_error(DiagKind::kIrType, std::string(op_info(q.op).mnemonic) + ": " + message);
}

// An integer attribute within [low, high].
Result<int64_t> int_attr(const Query& q, std::string_view key, int64_t low, int64_t high) {
  const AttrValue* value = q.attrs.find(key);
  const int64_t* number = value ? std::get_if<int64_t>(value) : nullptr;
  std::string label =
      std::string(op_info(q.op).mnemonic) + ": attribute '" + std::string(key) + "'";
  if (number == nullptr) return make_error(DiagKind::kIrAttribute, label + " must be an integer");
  if (*number < low || *number > high)
    return make_error(DiagKind::kIrAttribute, label + " is " + std::to_string(*number) +
                                                  ", but must be from " + std::to_string(low) +
                                                  " to " + std::to_string(high));
  return *number;
}

Result<Types> same_types(const Query& q, size_t first, Type result) {
  for (size_t i = first + 1; i < q.operands.size(); ++i)
    if (q.type(i) != q.type(first))
      return type_error(q, "operands " + q.name(first) + " and " + q.name(i) +
                               " must have one type, but are " + to_string(q.type(first)) +
                               " and " + to_string(q.type(i)));
  return Types{std::move(result)};
}

Result<Types> infer_arange(const Query& q) {
  constexpr int64_t kLow = INT32_MIN, kHigh = INT32_MAX;
  TW_ASSIGN(int64_t start, int_attr(q, "start", kLow, kHigh));
  TW_ASSIGN(int64_t end, int_attr(q, "end", kLow, kHigh));
  int64_t count = end - start;
  if (count <= 0 || !std::has_single_bit(static_cast<uint64_t>(count)))
    return type_error(q,
                      "end - start is " + std::to_string(count) + ", but must be a power of two");
  return Types{Type::tile(Dtype::kI32, {count})};
}

Result<Types> infer_expand_dims(const Query& q) {
  TW_ASSIGN(int64_t axis, int_attr(q, "axis", 0, q.type(0).rank()));
  Shape shape = q.type(0).shape;
  shape.insert(shape.begin() + axis, 1);
  return Types{q.type(0).with_shape(shape)};
}

Result<Types> infer_permute(const Query& q) {
  const AttrValue* value = q.attrs.find("order");
  const auto* order = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
  if (order == nullptr)
    return make_error(DiagKind::kIrAttribute, "permute: attribute 'order' must be a list");
  std::vector<int64_t> sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  bool good = static_cast<int>(sorted.size()) == q.type(0).rank();
  for (size_t i = 0; i < sorted.size(); ++i) good = good && sorted[i] == static_cast<int64_t>(i);
  if (!good)
    return make_error(DiagKind::kIrAttribute, "permute: attribute 'order' must name each of the " +
                                                  std::to_string(q.type(0).rank()) +
                                                  " dimensions once");
  Shape shape;
  for (int64_t from : *order) shape.push_back(q.type(0).shape[from]);
  return Types{q.type(0).with_shape(shape)};
}

Result<Types> infer_join(const Query& q) {
  Shape shape = q.type(0).shape;
  shape.push_back(2);
  return same_types(q, 0, q.type(0).with_shape(shape));
}

Result<Types> infer_split(const Query& q) {
  Shape shape = q.type(0).shape;
  if (shape.empty() || shape.back() != 2)
    return type_error(
        q, "the last dimension of 'x' must be 2, but its type is " + to_string(q.type(0)));
  shape.pop_back();
  Type half = q.type(0).with_shape(shape);
  return Types{half, half};
}

Result<Types> infer_cat(const Query& q) {
  if (q.type(0).is_scalar()) return type_error(q, "operands must be tiles, not scalars");
  TW_ASSIGN(int64_t axis, int_attr(q, "axis", 0, q.type(0).rank() - 1));
  Shape shape = q.type(0).shape;
  shape[axis] *= 2;
  return same_types(q, 0, q.type(0).with_shape(shape));
}

Result<Types> infer_pointee(const Query& q) {
  const Type& pointer = q.type(0);
  if (!pointer.is_pointer)
    return type_error(
        q, "'ptr' must be a pointer or a tile of pointers, but is " + to_string(pointer));
  return Types{Type{pointer.dtype, false, pointer.shape}};
}

Result<Types> infer_reduce(const Query& q) {
  const Type& first = q.type(0);
  if (first.is_scalar()) return type_error(q, "operands must be tiles, not scalars");
  TW_ASSIGN(int64_t axis, int_attr(q, "axis", 0, first.rank() - 1));
  Types types;
  for (size_t i = 0; i < q.operands.size(); ++i) {
    if (q.type(i).shape != first.shape)
      return type_error(q, "operands must have one shape, but are " + to_string(first) + " and " +
                               to_string(q.type(i)));
    Shape shape = first.shape;
    shape.erase(shape.begin() + axis);
    types.push_back(q.type(i).with_shape(shape));
  }
  return types;
}

Result<Types> infer_scan(const Query& q) {
  TW_ASSIGN(Types reduced, infer_reduce(q));  // asks the same of the operands
  for (size_t i = 0; i < reduced.size(); ++i) reduced[i] = q.type(i);
  return reduced;
}

Result<Types> infer_gather(const Query& q) {
  const Type &src = q.type(0), &index = q.type(1);
  if (src.is_scalar()) return type_error(q, "'src' must be a tile, not a scalar");
  TW_ASSIGN(int64_t axis, int_attr(q, "axis", 0, src.rank() - 1));
  Shape wanted = src.shape;
  if (index.rank() == src.rank()) wanted[axis] = index.shape[axis];
  if (index.shape != wanted)
    return type_error(q, "'src' and 'index' must have one shape outside of the axis, but are " +
                             to_string(src) + " and " + to_string(index));
  return Types{src.with_shape(index.shape)};
}

Result<Types> infer_histogram(const Query& q) {
  TW_ASSIGN(int64_t bins, int_attr(q, "bins", 1, int64_t{1} << 20));
  return Types{Type::tile(Dtype::kI32, {bins})};
}

Result<Types> infer_slot(const Query& q) {
  if (!q.type(0).is_shared)
    return type_error(q, "'buffer' must be a shared buffer, but is " + to_string(q.type(0)));
  return Types{q.type(0).slot()};
}

Result<Types> infer_loop_carried(const Query& q) {
  Types types;
  for (size_t i = operand_spec(q.op).minimum; i < q.operands.size(); ++i)
    types.push_back(q.type(i));
  return types;
}

}  // namespace

Result<std::vector<Type>> infer_types(const Module& module, Op op,
                                      const std::vector<ValueId>& operands, const Attrs& attrs,
                                      const std::vector<RegionId>&) {
  Query q{module, op, operands, attrs};
  const OperandSpec& spec = operand_spec(op);
  auto count = static_cast<int>(operands.size());
  // Rules other than the loops' look at the first operand of ops that take any number.
  int minimum = op_info(op).has(kCombines) ? 1 : spec.minimum;
  if (count < minimum || (spec.maximum >= 0 && count > spec.maximum))
    return type_error(q, "has " + std::to_string(count) + " operands, but takes (" +
                             std::string(op_info(op).operands) + ")");
  switch (op_info(op).type_rule) {
    case TypeRule::kNone:
      return Types{};
    case TypeRule::kSame:
      return same_types(q, 0, q.type(0));
    case TypeRule::kExplicit:
      break;
    case TypeRule::kFirstOperand:
      return Types{q.type(0)};
    case TypeRule::kI32:
      return Types{Type::scalar(Dtype::kI32)};
    case TypeRule::kArange:
      return infer_arange(q);
    case TypeRule::kExpandDims:
      return infer_expand_dims(q);
    case TypeRule::kPermute:
      return infer_permute(q);
    case TypeRule::kJoin:
      return infer_join(q);
    case TypeRule::kSplit:
      return infer_split(q);
    case TypeRule::kCat:
      return infer_cat(q);
    case TypeRule::kCompare:
      return same_types(q, 0, Type::tile(Dtype::kI1, q.type(0).shape));
    case TypeRule::kSelect:
      return same_types(q, 1, q.type(1));
    case TypeRule::kLoad:
    case TypeRule::kAtomic:
      return infer_pointee(q);
    case TypeRule::kDot:
      return Types{q.type(2)};
    case TypeRule::kReduce:
      return infer_reduce(q);
    case TypeRule::kScan:
      return infer_scan(q);
    case TypeRule::kGather:
      return infer_gather(q);
    case TypeRule::kHistogram:
      return infer_histogram(q);
    case TypeRule::kLoopCarried:
      return infer_loop_carried(q);
    case TypeRule::kSlot:
      return infer_slot(q);
  }
  TW_UNREACHABLE(std::string(op_info(op).mnemonic) + ": the result type cannot be inferred");
}

}  // namespace tilewright::ir
