#include "codegen/analysis/axis_rules.h"

#include <algorithm>
#include <bit>

#include "dsl/base/numeric.h"

namespace tilewright::analysis {
namespace {

using ir::Op;

int64_t capped_product(int64_t a, int64_t b) {
  return a >= kMaxDivisor / b ? kMaxDivisor : a * b;
}

}  // namespace

AxisInfo elementwise_axes(const ir::Module& module, const ir::OpNode& op,
                          const std::vector<AxisInfo>& infos) {
  AxisInfo result = unknown_axes(module.type(op.results[0]));
  for (int d = 0; d < result.rank(); ++d) {
    int64_t same = operand(op, infos, 0).constancy[d];
    for (size_t i = 1; i < op.operands.size(); ++i)
      same = gcd(same, operand(op, infos, static_cast<int>(i)).constancy[d]);
    result.constancy[d] = same;
  }
  return result;
}

namespace {

// Folds an integer op of two known operands with the wrap-around of the type.
std::optional<int64_t> fold(Op op, int64_t a, int64_t b, Dtype dtype) {
  auto wrap = [&](uint64_t value) {
    return bits_to_int(int_to_bits(static_cast<int64_t>(value), dtype), dtype);
  };
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case Op::Add:
      return wrap(ua + ub);
    case Op::Sub:
      return wrap(ua - ub);
    case Op::Mul:
      return wrap(ua * ub);
    case Op::Div:
      if (b <= 0 || a < 0) return std::nullopt;
      return a / b;
    case Op::Rem:
      if (b <= 0 || a < 0) return std::nullopt;
      return a % b;
    case Op::And:
      return a & b;
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::Shl:
      if (b < 0 || b >= dtype_bits(dtype)) return std::nullopt;
      return wrap(ua << b);
    case Op::Shr:
      if (b < 0 || b >= dtype_bits(dtype)) return std::nullopt;
      if (a < 0 && is_unsigned(dtype)) return std::nullopt;  // u64 above int64
      return a >> b;
    default:
      return std::nullopt;
  }
}

// x + y, x - y, pointer + offset. A run of one plus equal values of the other is a run.
AxisInfo add_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  int64_t unit = pointer_unit(module.type(op.results[0]));
  for (int d = 0; d < result.rank(); ++d) {
    int64_t run = gcd(a.contiguity[d], b.constancy[d]);
    if (op.op != Op::Sub) run = std::max(run, gcd(a.constancy[d], b.contiguity[d]));
    result.contiguity[d] = run;
    result.divisibility[d] =
        gcd(a.divisor_at(d, run, unit), capped_product(b.divisor_at(d, run, 1), unit));
  }
  result.non_negative = op.op != Op::Sub && a.non_negative && b.non_negative;
  return result;
}

AxisInfo mul_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  AxisInfo result = elementwise_axes(module, op, infos);
  result.non_negative = a.non_negative && b.non_negative;
  for (int d = 0; d < result.rank(); ++d) {
    result.divisibility[d] = capped_product(a.divisor_at(d, 1, 1), b.divisor_at(d, 1, 1));
    if (a.constant == 1 || b.constant == 1) {
      const AxisInfo& other = a.constant == 1 ? b : a;
      result.contiguity[d] = other.contiguity[d];
      result.divisibility[d] = other.divisibility[d];
    }
  }
  return result;
}

// The longest aligned blocks along d in which a is a run that starts at a multiple of the block,
// and b is one multiple of the block.
int64_t aligned_run(const AxisInfo& a, const AxisInfo& b, int d) {
  int64_t run =
      gcd(gcd(a.contiguity[d], a.divisibility[d]), gcd(b.constancy[d], b.element_divisor()));
  return std::max<int64_t>(run, 1);
}

// Truncation toward zero is floor.
bool truncates_like_floor(const AxisInfo& a, const ir::Type& type) {
  return a.non_negative || is_unsigned(type.dtype);
}

// Within an aligned run x/n does not change. For negative x truncation would break that.
AxisInfo div_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  AxisInfo result = elementwise_axes(module, op, infos);
  if (b.constant == 1) return a;
  bool floor = truncates_like_floor(a, module.type(op.operands[0]));
  bool positive_divisor = !b.constant || *b.constant > 0;
  result.non_negative = a.non_negative && positive_divisor;
  for (int d = 0; d < result.rank(); ++d) {
    if (floor) result.constancy[d] = std::max(result.constancy[d], aligned_run(a, b, d));
    if (b.constant && *b.constant > 1 && std::has_single_bit(static_cast<uint64_t>(*b.constant)))
      result.divisibility[d] = std::max<int64_t>(1, a.divisor_at(d, 1, 1) / *b.constant);
  }
  return result;
}

// Within an aligned run x%n is a run. For negative x the sign of the result would break that.
AxisInfo rem_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  if (b.constant == 1) return constant_axes(module.type(op.results[0]), 0);
  AxisInfo result = elementwise_axes(module, op, infos);
  bool floor = truncates_like_floor(a, module.type(op.operands[0]));
  result.non_negative = a.non_negative;
  for (int d = 0; d < result.rank(); ++d) {
    int64_t run = floor ? aligned_run(a, b, d) : 1;
    result.contiguity[d] = run;
    result.divisibility[d] = gcd(a.divisor_at(d, run, 1), b.element_divisor());
  }
  return result;
}

// x & (2^k - 1) is a floor remainder: it keeps runs whatever the sign.
AxisInfo and_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  const AxisInfo* a = &operand(op, infos, 0);
  const AxisInfo* b = &operand(op, infos, 1);
  if (a->constant) std::swap(a, b);
  result.non_negative = a->non_negative || b->non_negative;
  for (int d = 0; d < result.rank(); ++d) {
    result.divisibility[d] = std::max(a->divisor_at(d, 1, 1), b->divisor_at(d, 1, 1));
    if (!b->constant || *b->constant < 1) continue;
    auto modulus = static_cast<uint64_t>(*b->constant) + 1;
    if (!std::has_single_bit(modulus)) continue;
    int64_t run = gcd(gcd(a->contiguity[d], a->divisibility[d]),
                      std::min(static_cast<int64_t>(modulus), kMaxDivisor));
    if (run <= 1) continue;
    result.contiguity[d] = run;
    result.divisibility[d] = a->divisor_at(d, run, 1);
  }
  return result;
}

AxisInfo or_axes(const ir::Module& module, const ir::OpNode& op,
                 const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  result.non_negative = a.non_negative && b.non_negative;
  for (int d = 0; d < result.rank(); ++d)
    result.divisibility[d] = gcd(a.divisor_at(d, 1, 1), b.divisor_at(d, 1, 1));
  return result;
}

AxisInfo shl_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  AxisInfo result = elementwise_axes(module, op, infos);
  result.non_negative = a.non_negative;
  int64_t factor =
      b.constant && *b.constant >= 0 && *b.constant < 30 ? int64_t{1} << *b.constant : 1;
  if (b.constant == 0) return a;
  for (int d = 0; d < result.rank(); ++d)
    result.divisibility[d] = capped_product(a.divisor_at(d, 1, 1), factor);
  return result;
}

// A floor division by a power of two: constant within an aligned run, whatever the sign.
AxisInfo shr_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  if (b.constant == 0) return a;
  AxisInfo result = elementwise_axes(module, op, infos);
  result.non_negative = a.non_negative;
  if (!b.constant || *b.constant < 0 || *b.constant >= 30) return result;
  int64_t divisor = int64_t{1} << *b.constant;
  for (int d = 0; d < result.rank(); ++d) {
    result.constancy[d] =
        std::max(result.constancy[d], gcd(gcd(a.contiguity[d], a.divisibility[d]), divisor));
    result.divisibility[d] = std::max<int64_t>(1, a.divisor_at(d, 1, 1) / divisor);
  }
  return result;
}

AxisInfo min_max_axes(const ir::Module& module, const ir::OpNode& op,
                      const std::vector<AxisInfo>& infos) {
  AxisInfo result = or_axes(module, op, infos);  // one of the two: what divides both
  const AxisInfo& a = operand(op, infos, 0);
  const AxisInfo& b = operand(op, infos, 1);
  result.non_negative =
      op.op == Op::Max ? a.non_negative || b.non_negative : a.non_negative && b.non_negative;
  return result;
}

// In a block where the condition is one value, the result is a block of one of the two.
AxisInfo select_axes(const ir::Module& module, const ir::OpNode& op,
                     const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  const AxisInfo& cond = operand(op, infos, 0);
  const AxisInfo& a = operand(op, infos, 1);
  const AxisInfo& b = operand(op, infos, 2);
  int64_t unit = pointer_unit(module.type(op.results[0]));
  result.non_negative = a.non_negative && b.non_negative;
  if (a.constant && a.constant == b.constant) return a;
  for (int d = 0; d < result.rank(); ++d) {
    int64_t run = gcd(cond.constancy[d], gcd(a.contiguity[d], b.contiguity[d]));
    result.contiguity[d] = run;
    result.divisibility[d] = gcd(a.divisor_at(d, run, unit), b.divisor_at(d, run, unit));
  }
  return result;
}

// run < bound: when both start at multiples of the block, the whole block is on one side. Holds for
// run >= bound too, and for bound > run, bound <= run.
AxisInfo cmp_axes(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  AxisInfo result = elementwise_axes(module, op, infos);
  const ir::Type& type = module.type(op.operands[0]);
  if (type.is_pointer || is_float(type.dtype)) return result;
  std::string_view pred = op.attrs.get_word("pred");
  bool run_first = pred == "lt" || pred == "ge", run_second = pred == "gt" || pred == "le";
  if (!run_first && !run_second) return result;
  const AxisInfo& run = operand(op, infos, run_first ? 0 : 1);
  const AxisInfo& bound = operand(op, infos, run_first ? 1 : 0);
  for (int d = 0; d < result.rank(); ++d)
    result.constancy[d] = std::max(result.constancy[d], aligned_run(run, bound, d));
  return result;
}

AxisInfo cast_axes(const ir::Module& module, const ir::OpNode& op,
                   const std::vector<AxisInfo>& infos) {
  const ir::Type& from = module.type(op.operands[0]);
  const ir::Type& to = module.type(op.results[0]);
  const AxisInfo& x = operand(op, infos, 0);
  AxisInfo result = elementwise_axes(module, op, infos);
  auto integral = [](const ir::Type& t) { return t.is_pointer || is_int(t.dtype); };
  if (!integral(from) || !integral(to) || to.element() == ir::Type::scalar(Dtype::kI1))
    return result;
  bool same_step = from.is_pointer == to.is_pointer && pointer_unit(from) == pointer_unit(to);
  bool keeps_values = to.element_bits() >= from.element_bits() || to.element_bits() >= 32;
  int64_t widest = to.element_bits() >= 31 ? kMaxDivisor : int64_t{1} << to.element_bits();
  for (int d = 0; d < result.rank(); ++d) {
    if (same_step && keeps_values) {
      result.contiguity[d] = x.contiguity[d];
      result.divisibility[d] = x.divisibility[d];
    } else {
      result.divisibility[d] = gcd(x.divisor_at(d, 1, pointer_unit(from)), widest);
    }
  }
  // Widening keeps the value unless a negative number becomes unsigned; narrowing may wrap.
  bool widens =
      to.element_bits() > from.element_bits() ||
      (to.element_bits() == from.element_bits() && is_signed(from.dtype) == is_signed(to.dtype));
  result.non_negative =
      widens && !from.is_pointer && !to.is_pointer && (x.non_negative || is_unsigned(from.dtype));
  if (x.constant && to.is_pointer == from.is_pointer && !to.is_pointer)
    return constant_axes(to, bits_to_int(int_to_bits(*x.constant, to.dtype), to.dtype));
  return result;
}

std::optional<AxisInfo> transfer_binary(const ir::Module& module, const ir::OpNode& op,
                                        const std::vector<AxisInfo>& infos) {
  switch (op.op) {
    case Op::Add:
    case Op::Sub:
    case Op::PtrAdd:
      return add_axes(module, op, infos);
    case Op::Mul:
      return mul_axes(module, op, infos);
    case Op::Div:
      return div_axes(module, op, infos);
    case Op::Rem:
      return rem_axes(module, op, infos);
    case Op::And:
      return and_axes(module, op, infos);
    case Op::Or:
    case Op::Xor:
      return or_axes(module, op, infos);
    case Op::Shl:
      return shl_axes(module, op, infos);
    case Op::Shr:
      return shr_axes(module, op, infos);
    case Op::Min:
    case Op::Max:
      return min_max_axes(module, op, infos);
    default:
      return std::nullopt;
  }
}

}  // namespace

int64_t power_of_two_divisor(int64_t value) {
  if (value == 0) return kMaxDivisor;
  return std::min(kMaxDivisor,
                  int64_t{1} << std::min(62, std::countr_zero(static_cast<uint64_t>(value))));
}

AxisInfo unknown_axes(const ir::Type& type) {
  size_t rank = std::max(1, type.rank());
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  return info;
}

AxisInfo constant_axes(const ir::Type& type, int64_t value) {
  AxisInfo info = unknown_axes(type);
  info.constant = value;
  info.non_negative = value >= 0;
  for (int d = 0; d < info.rank(); ++d) info.divisibility[d] = power_of_two_divisor(value);
  for (int d = 0; d < type.rank(); ++d) info.constancy[d] = type.shape[d];
  return info;
}

AxisInfo meet(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo result = a;
  for (int d = 0; d < a.rank(); ++d) {
    // A shorter run has more starts: each must be covered by what divides it.
    int64_t run = gcd(a.contiguity[d], b.contiguity[d]);
    result.contiguity[d] = run;
    result.divisibility[d] = gcd(a.divisor_at(d, run, 1), b.divisor_at(d, run, 1));
    result.constancy[d] = gcd(a.constancy[d], b.constancy[d]);
  }
  if (a.constant != b.constant) result.constant.reset();
  result.non_negative = a.non_negative && b.non_negative;
  return result;
}

AxisInfo transfer(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos) {
  const ir::Type& type = module.type(op.results[0]);
  if (auto info = transfer_shape(module, op, infos)) return *info;
  if (ir::op_info(op.op).family != ir::Family::kElementwise) return unknown_axes(type);
  if (op.op == Op::Cast || op.op == Op::Bitcast) return cast_axes(module, op, infos);
  if (op.op == Op::Select) return select_axes(module, op, infos);
  if (op.op == Op::Cmp) return cmp_axes(module, op, infos);
  bool integers = type.is_pointer || is_int(type.dtype);
  if (!integers) return elementwise_axes(module, op, infos);
  if (op.operands.size() == 2 && !type.is_pointer) {
    const AxisInfo& a = operand(op, infos, 0);
    const AxisInfo& b = operand(op, infos, 1);
    if (a.constant && b.constant)
      if (auto value = fold(op.op, *a.constant, *b.constant, type.dtype))
        return constant_axes(type, *value);
  }
  if (auto info = transfer_binary(module, op, infos)) return *info;
  return elementwise_axes(module, op, infos);
}

}  // namespace tilewright::analysis
