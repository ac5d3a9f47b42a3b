// The transfer functions of the axis analysis: what an op makes of what is known of its operands.
#pragma once

#include "codegen/analysis/axis_info.h"

namespace tilewright::analysis {

// The cap of divisibility (zero is divisible by everything).
inline constexpr int64_t kMaxDivisor = int64_t{1} << 30;

// Nothing known, for a type.
AxisInfo unknown_axes(const ir::Type& type);
AxisInfo constant_axes(const ir::Type& type, int64_t value);
// Largest power of two that divides value, at most kMaxDivisor.
int64_t power_of_two_divisor(int64_t value);
// What holds for both.
AxisInfo meet(const AxisInfo& a, const AxisInfo& b);

// ---- shared by the rules ----
// For powers of two the greatest common divisor is the smaller one.
inline int64_t gcd(int64_t a, int64_t b) {
  return a < b ? a : b;
}
inline const AxisInfo& operand(const ir::OpNode& op, const std::vector<AxisInfo>& infos,
                               int index) {
  return infos[op.operands[index].index];
}
// What one element further adds to a value.
inline int64_t pointer_unit(const ir::Type& type) {
  return type.is_pointer ? dtype_bytes(type.dtype) : 1;
}
// What holds for every pure op that computes each element from the elements at the same place.
AxisInfo elementwise_axes(const ir::Module& module, const ir::OpNode& op,
                          const std::vector<AxisInfo>& infos);
// Constants, ranges, shape ops, hints and loads; nullopt for other ops.
std::optional<AxisInfo> transfer_shape(const ir::Module& module, const ir::OpNode& op,
                                       const std::vector<AxisInfo>& infos);

// The result of an op with one result and no regions.
AxisInfo transfer(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos);

}  // namespace tilewright::analysis
