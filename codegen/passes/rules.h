// The rules of `canonicalize`, by family (the law they obey is in README.md). Each rule stands
// under its equation; `c` is a constant, `c'` another, computed from it.
#pragma once

#include <span>

#include "codegen/passes/rewriter.h"
#include "dsl/base/numeric.h"

namespace tilewright::passes {

std::span<const Rule> constant_rules();  // folding, constants to the right, lifting above splat and
                                         // broadcast
std::span<const Rule> integer_rules();
std::span<const Rule> float_rules();
std::span<const Rule> logic_rules();  // cmp, select, min, max
std::span<const Rule> cast_rules();   // cast, bitcast, ptr_add
std::span<const Rule> shape_rules();
std::span<const Rule> memory_rules();  // masks that are constant, assertions, hints
std::span<const Rule> control_rules();

// ---- what rules share ----

// The rule applies and the op's only result is `value`; does not apply if `value` is invalid.
inline Replacement with(ir::ValueId value) {
  if (!value.valid()) return std::nullopt;
  return std::vector{value};
}
inline constexpr std::nullopt_t kNoMatch = std::nullopt;

inline bool is_int_type(const ir::Type& type) {
  return !type.is_pointer && is_int(type.dtype);
}
inline bool is_float_type(const ir::Type& type) {
  return !type.is_pointer && is_float(type.dtype);
}
inline bool is_i1(const ir::Type& type) {
  return !type.is_pointer && type.dtype == Dtype::kI1;
}

// Whether `id` is the integer constant `value` (wrapped to its type).
inline bool is_int_constant(Rewriter& rw, ir::ValueId id, int64_t value) {
  const ir::Type& type = rw.type(id);
  auto bits = rw.constant(id);
  return bits && is_int_type(type) && *bits == int_to_bits(value, type.dtype);
}
// Whether `id` is the float constant `value`, sign of zero included.
inline bool is_float_constant(Rewriter& rw, ir::ValueId id, double value) {
  const ir::Type& type = rw.type(id);
  auto bits = rw.constant(id);
  return bits && is_float_type(type) && *bits == float_to_bits(value, type.dtype);
}
// The operand of `op` if `id` is the result of such an op of one operand.
inline ir::ValueId operand_of(Rewriter& rw, ir::ValueId id, ir::Op op) {
  const ir::OpNode* def = rw.def_as(id, op);
  return def ? rw.resolve(def->operands[0]) : ir::ValueId{};
}

}  // namespace tilewright::passes
