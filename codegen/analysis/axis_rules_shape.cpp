// Rules of the axis analysis for ops that create tiles or move their elements.
#include <algorithm>

#include "codegen/analysis/axis_rules.h"

namespace tilewright::analysis {
namespace {

using ir::Op;

AxisInfo const_axes(const ir::Module& module, const ir::OpNode& op) {
  const ir::Type& type = module.type(op.results[0]);
  if (!type.is_pointer && is_float(type.dtype)) {
    AxisInfo result = unknown_axes(type);
    for (int d = 0; d < type.rank(); ++d) result.constancy[d] = type.shape[d];
    return result;
  }
  return constant_axes(type, op.attrs.get_int("value"));
}

AxisInfo arange_axes(const ir::Module& module, const ir::OpNode& op) {
  AxisInfo result = unknown_axes(module.type(op.results[0]));
  int64_t start = op.attrs.get_int("start");
  result.contiguity[0] = module.type(op.results[0]).shape[0];
  result.divisibility[0] = power_of_two_divisor(start);
  result.non_negative = start >= 0;
  return result;
}

AxisInfo splat_axes(const ir::Module& module, const ir::OpNode& op,
                    const std::vector<AxisInfo>& infos) {
  const ir::Type& type = module.type(op.results[0]);
  const AxisInfo& x = operand(op, infos, 0);
  AxisInfo result = unknown_axes(type);
  result.constant = x.constant;
  result.non_negative = x.non_negative;
  for (int d = 0; d < type.rank(); ++d) {
    result.constancy[d] = type.shape[d];
    result.divisibility[d] = x.divisibility[0];
  }
  return result;
}

AxisInfo broadcast_axes(const ir::Module& module, const ir::OpNode& op,
                        const std::vector<AxisInfo>& infos) {
  const ir::Type& from = module.type(op.operands[0]);
  const ir::Type& to = module.type(op.results[0]);
  AxisInfo result = operand(op, infos, 0);
  for (int d = 0; d < to.rank(); ++d)
    if (from.shape[d] != to.shape[d]) result.constancy[d] = to.shape[d];
  return result;
}

AxisInfo expand_dims_axes(const ir::OpNode& op, const std::vector<AxisInfo>& infos) {
  AxisInfo result = operand(op, infos, 0);
  auto axis = op.attrs.get_int("axis");
  int64_t divisor = result.element_divisor();
  result.contiguity.insert(result.contiguity.begin() + axis, 1);
  result.constancy.insert(result.constancy.begin() + axis, 1);
  result.divisibility.insert(result.divisibility.begin() + axis, divisor);
  return result;
}

AxisInfo permute_axes(const ir::OpNode& op, const std::vector<AxisInfo>& infos) {
  const AxisInfo& x = operand(op, infos, 0);
  AxisInfo result = x;
  std::vector<int64_t> order = op.attrs.get_list("order");
  for (size_t i = 0; i < order.size(); ++i) {
    result.contiguity[i] = x.contiguity[order[i]];
    result.divisibility[i] = x.divisibility[order[i]];
    result.constancy[i] = x.constancy[order[i]];
  }
  return result;
}

// Runs along the last dimension stay runs as far as the new last dimension goes.
AxisInfo reshape_axes(const ir::Module& module, const ir::OpNode& op,
                      const std::vector<AxisInfo>& infos) {
  const ir::Type& to = module.type(op.results[0]);
  const AxisInfo& x = operand(op, infos, 0);
  if (x.constant) return constant_axes(to, *x.constant);
  AxisInfo result = unknown_axes(to);
  result.non_negative = x.non_negative;
  if (op.attrs.get_int("reorder") != 0) return result;
  int from_last = x.rank() - 1, to_last = result.rank() - 1;
  int64_t unit = pointer_unit(to), run = gcd(x.contiguity[from_last], to.shape[to_last]);
  for (int d = 0; d < to_last; ++d) result.divisibility[d] = x.element_divisor();
  result.contiguity[to_last] = run;
  result.constancy[to_last] = gcd(x.constancy[from_last], to.shape[to_last]);
  result.divisibility[to_last] = x.divisor_at(from_last, run, unit);
  return result;
}

AxisInfo hint_axes(const ir::OpNode& op, const std::vector<AxisInfo>& infos) {
  AxisInfo result = operand(op, infos, 0);
  std::vector<int64_t> values = op.attrs.get_list("values");
  std::string_view kind = op.attrs.get_word("kind");
  std::vector<int64_t>& known = kind == "multiple_of"      ? result.divisibility
                                : kind == "max_contiguous" ? result.contiguity
                                                           : result.constancy;
  for (size_t d = 0; d < values.size() && d < known.size(); ++d)
    if (values[d] > 0) known[d] = std::max(known[d], power_of_two_divisor(values[d]));
  return result;
}

// Equal addresses under equal masks give equal values.
AxisInfo load_axes(const ir::Module& module, const ir::OpNode& op,
                   const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  result.non_negative = is_unsigned(module.type(op.results[0]).dtype);
  return result;
}

}  // namespace

std::optional<AxisInfo> transfer_shape(const ir::Module& module, const ir::OpNode& op,
                                       const std::vector<AxisInfo>& infos) {
  switch (op.op) {
    case Op::Const:
      return const_axes(module, op);
    case Op::ProgramId:
    case Op::NumPrograms: {
      AxisInfo result = unknown_axes(module.type(op.results[0]));
      result.non_negative = true;
      return result;
    }
    case Op::Arange:
      return arange_axes(module, op);
    case Op::Splat:
      return splat_axes(module, op, infos);
    case Op::Broadcast:
      return broadcast_axes(module, op, infos);
    case Op::ExpandDims:
      return expand_dims_axes(op, infos);
    case Op::Permute:
      return permute_axes(op, infos);
    case Op::Reshape:
      return reshape_axes(module, op, infos);
    case Op::Hint:
      return hint_axes(op, infos);
    case Op::Load:
      return load_axes(module, op, infos);
    default:
      return std::nullopt;
  }
}

}  // namespace tilewright::analysis
