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

// The result of an op with one result and no regions.
AxisInfo transfer(const ir::Module& module, const ir::OpNode& op,
                  const std::vector<AxisInfo>& infos);

}  // namespace tilewright::analysis
