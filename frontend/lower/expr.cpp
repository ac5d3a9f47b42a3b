// Expressions: one function a node kind.
#include <fmt/format.h>

#include "frontend/fold.h"
#include "frontend/lower/lowering.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Operator;
using ir::Op;
using Kind = Value::Kind;

Value unsupported(Lowering& lw, const Expr* expr, std::string_view what, std::string_view hint) {
  return lw.fail(
      DiagKind::kUnsupportedSyntax, expr->span,
      fmt::format("{} cannot be used in a kernel{}{}", what, hint.empty() ? "" : "; ", hint));
}

Value eval_tuple(Lowering& lw, const Expr* expr) {
  Value out = Value::tuple({});
  bool ok = true;
  for (const Expr* child : expr->children) {
    if (child->kind == ExprKind::kStarred) {
      Value inner = lw.eval(child->children[0]);
      if (inner.kind != Kind::kTuple) {
        if (!inner.is_error())
          lw.fail(DiagKind::kBadOperand, child->span,
                  fmt::format("'*' needs a tuple, but this is {}", describe(inner)));
        ok = false;
        continue;
      }
      out.elements.insert(out.elements.end(), inner.elements.begin(), inner.elements.end());
      continue;
    }
    out.elements.push_back(lw.eval(child));
    ok &= !out.elements.back().is_error();
  }
  return ok ? out : Value::error();
}

Value eval_fstring(Lowering& lw, const Expr* expr) {
  std::string text;
  for (const Expr* part : expr->children) {
    const Expr* inner = part->kind == ExprKind::kFormatted ? part->children[0] : part;
    Value value = lw.eval(inner);
    if (value.is_error()) return value;
    auto piece = constant_text(value);
    if (!piece)
      return lw.fail(DiagKind::kNotConstexpr, inner->span,
                     fmt::format("an f-string takes compile-time values only, but this is {}",
                                 describe(value)));
    text += *piece;
  }
  return Value::string(std::move(text));
}

// `and`, `or`: constants short-circuit and drop out, run-time operands are all evaluated.
Value eval_bool_op(Lowering& lw, const Expr* expr) {
  bool is_and = expr->op == Operator::kBoolAnd;
  Value result = Value::boolean(is_and), last = result;
  Span result_span = expr->span;
  bool have = false;
  for (const Expr* child : expr->children) {
    Value value = lw.eval(child);
    if (value.is_error()) return value;
    if (!value.is_tensor()) {
      auto condition = lw.condition(value, child->span, is_and ? "and" : "or");
      if (!condition.ok) return Value::error();
      if (*condition.constant != is_and) return value;
      last = value;
      continue;
    }
    if (value.type.is_pointer || value.type.dtype != Dtype::kI1)
      return lw.fail(DiagKind::kTypeMismatch, child->span,
                     fmt::format("'{}' needs int1 operands, but this is {}; compare with 0, or use "
                                 "'{}' for bits",
                                 is_and ? "and" : "or", describe(value), is_and ? "&" : "|"));
    if (!have) {
      result = value;
      result_span = child->span;
    } else {
      SpanScope at(lw, expr->span);
      if (!lw.broadcast_pair(result, value, expr->span)) return Value::error();
      result = lw.emit_value(is_and ? Op::And : Op::Or, {result.id, value.id});
    }
    have = true;
  }
  return have ? result : last;
}

Value eval_compare(Lowering& lw, const Expr* expr) {
  if (expr->ops.size() != 1)
    return unsupported(lw, expr, "a chained comparison", "write 'a < b and b < c'");
  const Expr *left = expr->children[0], *right = expr->children[1];
  Value a = lw.eval(left), b = lw.eval(right);
  return lw.compare(expr->ops[0], a, b, expr->span, left->span, right->span);
}

// Evaluates only the chosen side of a compile-time condition, and each side of a run-time one in
// a region of its own.
Value eval_ternary(Lowering& lw, const Expr* expr) {
  const Expr* test = expr->children[0];
  auto condition = lw.condition(lw.eval(test), test->span, "a conditional expression");
  if (!condition.ok) return Value::error();
  if (condition.constant) return lw.eval(expr->children[*condition.constant ? 1 : 2]);
  ir::RegionId regions[2];
  Value values[2];
  for (int i = 0; i < 2; ++i) {
    regions[i] = lw.module.add_region({});
    const Expr* side = expr->children[1 + i];
    values[i] = lw.in_region(regions[i], [&] {
      Value value = lw.eval(side);
      return value.is_number() ? lw.to_tensor(value, side->span) : value;
    });
    if (values[i].is_error()) return values[i];
  }
  std::vector<ir::ValueId> yields[2];
  Value merged;
  if (!lw.merge(merged, values[0], values[1], regions[0], regions[1], yields[0], yields[1]))
    return lw.fail(DiagKind::kTypeMismatchBranch, expr->span,
                   fmt::format("the two sides of a run-time condition must have one type, but are "
                               "{} and {}",
                               describe(values[0]), describe(values[1])),
                   {{expr->children[1]->span, "this is " + describe(values[0])},
                    {expr->children[2]->span, "this is " + describe(values[1])}});
  std::vector<ir::Type> types;
  for (ir::ValueId id : yields[0]) types.push_back(lw.module.type(id));
  for (int i = 0; i < 2; ++i) lw.in_region(regions[i], [&] { lw.builder.yield(yields[i]); });
  auto results =
      lw.attach(Op::If, {condition.value}, {}, types, {regions[0], regions[1]}, expr->span);
  size_t position = 0;
  return unflatten(merged, results, position);
}

// x[:, None]: a new unit dimension for each None.
Value index_tensor(Lowering& lw, const Value& tensor, const Expr* expr) {
  int kept = 0;
  std::vector<int64_t> new_axes;
  for (size_t i = 1; i < expr->children.size(); ++i) {
    const Expr* index = expr->children[i];
    bool full = index->kind == ExprKind::kSlice && !index->children[0] && !index->children[1] &&
                !index->children[2];
    if (full) {
      ++kept;
      continue;
    }
    bool none = index->kind == ExprKind::kNone;
    if (index->kind == ExprKind::kName) none = lw.eval(index).is_none();
    if (!none)
      return lw.fail(DiagKind::kUnsupportedSyntax, index->span,
                     "a tensor is indexed by ':' and None only; use a load through pointers, or "
                     "tl.reshape and tl.split, to take elements");
    new_axes.push_back(static_cast<int64_t>(i) - 1);
  }
  if (kept > tensor.type.rank())
    return lw.fail(DiagKind::kShapeMismatch, expr->span,
                   fmt::format("{} dimensions are indexed, but {} has {}", kept, describe(tensor),
                               tensor.type.rank()));
  ir::Shape shape = tensor.type.shape;
  for (int64_t axis : new_axes) shape.insert(shape.begin() + axis, 1);
  if (!lw.check_shape(shape, expr->span)) return Value::error();
  SpanScope at(lw, expr->span);
  if (tensor.type.is_scalar() && !new_axes.empty())
    return lw.emit_value_as(Op::Splat, tensor.type.with_shape(shape), {tensor.id});
  Value out = tensor;
  for (int64_t axis : new_axes) out = lw.emit_value(Op::ExpandDims, {out.id}, {{"axis", axis}});
  return out;
}

std::optional<int64_t> slice_bound(Lowering& lw, const Expr* bound, int64_t otherwise, bool& ok) {
  if (!bound) return otherwise;
  Value value = lw.eval(bound);
  if (value.is_none()) return otherwise;
  if (value.is_integer()) return value.constant.integer;
  if (!value.is_error())
    lw.fail(DiagKind::kNotConstexpr, bound->span,
            fmt::format("a tuple is indexed by compile-time integers, not by {}", describe(value)));
  ok = false;
  return std::nullopt;
}

Value slice_tuple(Lowering& lw, const Value& tuple, const Expr* slice) {
  auto size = static_cast<int64_t>(tuple.elements.size());
  bool ok = true;
  auto step = slice_bound(lw, slice->children[2], 1, ok);
  if (!ok) return Value::error();
  if (*step == 0)
    return lw.fail(DiagKind::kBadOperand, slice->children[2]->span, "the step of a slice is 0");
  auto low = slice_bound(lw, slice->children[0], *step > 0 ? 0 : size - 1, ok);
  auto high = slice_bound(lw, slice->children[1], *step > 0 ? size : -size - 1, ok);
  if (!ok) return Value::error();
  auto clamp = [&](int64_t i, int64_t least, int64_t most) {
    if (i < 0) i += size;
    return std::min(std::max(i, least), most);
  };
  Value out = Value::tuple({});
  if (*step > 0)
    for (int64_t i = clamp(*low, 0, size); i < clamp(*high, 0, size); i += *step)
      out.elements.push_back(tuple.elements[static_cast<size_t>(i)]);
  else
    for (int64_t i = clamp(*low, -1, size - 1); i > clamp(*high, -1, size - 1); i += *step)
      out.elements.push_back(tuple.elements[static_cast<size_t>(i)]);
  return out;
}

Value index_tuple(Lowering& lw, const Value& tuple, const Expr* expr) {
  if (expr->children.size() != 2)
    return lw.fail(DiagKind::kBadOperand, expr->span, "a tuple takes one index");
  const Expr* index = expr->children[1];
  if (index->kind == ExprKind::kSlice) return slice_tuple(lw, tuple, index);
  bool ok = true;
  auto position = slice_bound(lw, index, 0, ok);
  if (!ok) return Value::error();
  auto size = static_cast<int64_t>(tuple.elements.size());
  if (*position < -size || *position >= size)
    return lw.fail(DiagKind::kBadOperand, index->span,
                   fmt::format("index {} is outside of a tuple of {}", *position, size));
  return tuple.elements[static_cast<size_t>(*position < 0 ? *position + size : *position)];
}

Value eval_binary(Lowering& lw, const Expr* expr) {
  const Expr *left = expr->children[0], *right = expr->children[1];
  Value a = lw.eval(left), b = lw.eval(right);
  return lw.binary(expr->op, a, b, expr->span, left->span, right->span);
}

Value integer_literal(uint64_t bits) {
  Constant c;
  c.kind = Constant::Kind::kInt;
  c.integer = static_cast<int64_t>(bits);
  c.is_unsigned = bits > static_cast<uint64_t>(INT64_MAX);
  return Value::of(std::move(c));
}

}  // namespace

Value Lowering::subscript(const Expr* expr) {
  Value object = eval(expr->children[0]);
  if (object.is_error()) return object;
  if (object.is_tensor()) return index_tensor(*this, object, expr);
  if (object.kind == Kind::kTuple) return index_tuple(*this, object, expr);
  return fail(DiagKind::kBadOperand, expr->span,
              fmt::format("{} cannot be indexed", describe(object)));
}

bool Lowering::spend_step(Span span) {
  if (gave_up_) return false;
  if (++steps_ <= limits.steps && module.op_count() <= limits.ops) return true;
  gave_up_ = true;
  fail(DiagKind::kKernelTooLarge, span,
       fmt::format("the kernel grows beyond {} ops while loops are unrolled and calls expanded",
                   limits.ops));
  return false;
}

Value Lowering::eval(const Expr* expr) {
  if (!spend_step(expr->span)) return Value::error();
  SpanScope at(*this, expr->span);
  switch (expr->kind) {
    case ExprKind::kName:
      return eval_name(expr);
    case ExprKind::kInt:
      return integer_literal(expr->int_bits);
    case ExprKind::kFloat:
      return Value::real(expr->number);
    case ExprKind::kString:
      return Value::string(expr->text);
    case ExprKind::kFString:
      return eval_fstring(*this, expr);
    case ExprKind::kTrue:
    case ExprKind::kFalse:
      return Value::boolean(expr->kind == ExprKind::kTrue);
    case ExprKind::kNone:
      return Value::none();
    case ExprKind::kTuple:
    case ExprKind::kList:
      return eval_tuple(*this, expr);
    case ExprKind::kAttribute: {
      // The name of the attribute is the end of the expression.
      auto length = static_cast<uint32_t>(expr->text.size());
      Span name_span = expr->span;
      if (name_span.end - name_span.begin > length) name_span.begin = name_span.end - length;
      return attribute(eval(expr->children[0]), expr->text, expr->span, name_span);
    }
    case ExprKind::kSubscript:
      return subscript(expr);
    case ExprKind::kCall:
      return eval_call(expr);
    case ExprKind::kUnary:
      return unary(expr->op, eval(expr->children[0]), expr->span);
    case ExprKind::kBinary:
      return eval_binary(*this, expr);
    case ExprKind::kBoolOp:
      return eval_bool_op(*this, expr);
    case ExprKind::kCompare:
      return eval_compare(*this, expr);
    case ExprKind::kTernary:
      return eval_ternary(*this, expr);
    case ExprKind::kEllipsis:
      return unsupported(*this, expr, "'...'", "");
    case ExprKind::kSlice:
      return unsupported(*this, expr, "a slice", "it belongs into [ ]");
    case ExprKind::kStarred:
    case ExprKind::kDoubleStarred:
      return unsupported(*this, expr, "an unpacking here", "");
    case ExprKind::kFormatted:
      return unsupported(*this, expr, "a format", "");
    case ExprKind::kLambda:
      return unsupported(*this, expr, "a lambda", "write a @triton.jit function");
    case ExprKind::kNamed:
      return unsupported(*this, expr, "':='", "assign in a statement of its own");
    case ExprKind::kDict:
      return unsupported(*this, expr, "a dict", "");
    case ExprKind::kListComp:
      return unsupported(*this, expr, "a comprehension", "use a tl.static_range loop");
    case ExprKind::kUnsupported:
      return unsupported(*this, expr, expr->text, "");
  }
  return Value::error();
}

Lowering::Condition Lowering::condition(const Value& value, Span span, std::string_view where) {
  Condition out;
  switch (value.kind) {
    case Kind::kError:
      return out;
    case Kind::kConstant:
      out.constant = truth(value.constant);
      break;
    case Kind::kTuple:
      out.constant = !value.elements.empty();
      break;
    case Kind::kTensor: {
      if (value.type.is_tile()) {
        fail(DiagKind::kShapeMismatch, span,
             fmt::format("{} needs a scalar, but this is {}; use tl.where to choose by element, or "
                         "reduce it first",
                         where, describe(value)));
        return out;
      }
      SpanScope at(*this, span);
      out.value = cast(value.id, Dtype::kI1);
      break;
    }
    default:
      out.constant = true;  // functions, types and modules are true as Python objects are
  }
  out.ok = true;
  return out;
}

}  // namespace tilewright::frontend
