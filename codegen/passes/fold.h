// Evaluation of element-wise ops on constants, bit for bit as dsl/LANGUAGE.md says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codegen/ir/module.h"

namespace tilewright::passes {

// The element bits of a constant: what a register or memory would hold.
uint64_t constant_bits(const ir::AttrValue& value, const ir::Type& type);
// The attribute of a constant with these bits; nothing if no number stands for them (NaN payloads
// of narrow formats).
std::optional<ir::AttrValue> constant_value(uint64_t bits, const ir::Type& type);

// The result's bits for one element of `op`, whose operand and result types are given. Nothing if
// the op is not folded: functions without an exact result (exp, sin …), and arithmetic that gives
// NaN, whose sign and payload differ between machines.
std::optional<uint64_t> fold_element(const ir::OpNode& op, std::span<const ir::Type> types,
                                     const ir::Type& result, std::span<const uint64_t> x);

}  // namespace tilewright::passes
