#include "frontend/lower/combine.h"

#include <fmt/format.h>

namespace tilewright::frontend {

using ir::Op;
using Kind = Value::Kind;

Value tile_argument(Lowering& lw, const Call& call, const Value& value) {
  Value x = lw.to_tensor(value, call.spans[0], "input");
  if (x.is_error() || (x.type.is_tile() && !x.type.is_pointer)) return x;
  return lw.fail(DiagKind::kShapeMismatch, call.spans[0],
                 fmt::format("'{}' needs a tile, but this is {}", call.name, describe(x)));
}

std::optional<std::vector<Value>> emit_combining(Lowering& lw, Op op, ir::Attrs attrs,
                                                 const std::vector<Value>& tensors,
                                                 const std::vector<ir::Type>& results,
                                                 const Combine& combine, Span span) {
  ir::RegionId region = lw.module.add_region({});
  Ids ids, sides[2];
  for (const Value& x : tensors) ids.push_back(x.id);
  for (Ids& side : sides)
    for (const Value& x : tensors)
      side.push_back(lw.module.add_region_arg(region, x.type.element()));
  auto combined = lw.in_region(region, [&] {
    auto values = combine(sides[0], sides[1]);
    if (values) lw.builder.yield(*values);
    return values;
  });
  if (!combined) return std::nullopt;
  std::vector<Value> out;
  for (ir::ValueId id : lw.attach(op, ids, std::move(attrs), results, {region}, span))
    out.push_back(lw.wrap(id));
  return out;
}

std::optional<std::vector<Value>> combined_inputs(Lowering& lw, const Call& call,
                                                  std::string_view what) {
  bool single = call.args[0].kind != Kind::kTuple;
  std::vector<Value> tensors = single ? std::vector<Value>{call.args[0]} : call.args[0].elements;
  if (tensors.empty()) {
    lw.not_constexpr(call, 0, "a tensor or a tuple of them");
    return std::nullopt;
  }
  for (Value& x : tensors) {
    x = lw.to_tensor(x, call.spans[0], fmt::format("input of {}", what));
    if (x.is_error()) return std::nullopt;
    if (x.type.shape == tensors[0].type.shape) continue;
    lw.fail(DiagKind::kShapeMismatch, call.spans[0],
            fmt::format("all inputs of {} have one shape, but they are {} and {}", what,
                        describe(tensors[0]), describe(x)));
    return std::nullopt;
  }
  return tensors;
}

namespace {

// The elements must come back with their types from a function without effects.
bool check_combined(Lowering& lw, const Call& call, const Ids& elements, const Value& result,
                    Ids& out) {
  if (result.is_error()) return false;
  flatten(result, out);
  bool good = out.size() == elements.size();
  for (size_t i = 0; good && i < out.size(); ++i)
    good = lw.module.type(out[i]) == lw.module.type(elements[i]);
  if (good) return true;
  std::string wanted;
  for (ir::ValueId x : elements)
    wanted += (wanted.empty() ? "" : ", ") + type_text(lw.module.type(x));
  lw.fail(DiagKind::kTypeMismatch, call.spans[2],
          fmt::format("the combine function must return the types it folds, ({}), but returns {}",
                      wanted, describe(result)));
  return false;
}

bool check_pure(Lowering& lw, const Call& call, ir::RegionId region) {
  bool pure = true;
  ir::walk(lw.module, region, [&](ir::OpId id) {
    const ir::OpNode& node = lw.module.op(id);
    pure &= node.op == Op::If || ir::op_info(node.op).has(ir::kPure) ||
            ir::op_info(node.op).has(ir::kTerminator);
  });
  if (!pure)
    lw.fail(DiagKind::kBadArgument, call.spans[2],
            "a combine function may compute only: no loads, stores, loops or asserts");
  return pure;
}

}  // namespace

std::optional<Ids> call_combine(Lowering& lw, const Call& call, const Value& function, const Ids& a,
                                const Ids& b) {
  CallArguments arguments;
  for (const Ids* side : {&a, &b})
    for (ir::ValueId id : *side) arguments.positional.push_back({lw.wrap(id), call.spans[2]});
  Ids out;
  Value result = lw.call(function, std::move(arguments), call.spans[2], "combine function");
  if (!check_combined(lw, call, a, result, out) || !check_pure(lw, call, lw.builder.region()))
    return std::nullopt;
  return out;
}

}  // namespace tilewright::frontend
