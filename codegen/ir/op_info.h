// The op table as data: enum Op and a constexpr OpInfo for each, both from ops.def.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace tilewright::ir {

enum class Op : uint8_t {
#define TW_OP(name, ...) name,
#define TW_EW_OP(name, ...) name,
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};

enum class Family : uint8_t {
  kControl,
  kSource,
  kShape,
  kElementwise,
  kMemory,
  kMatrix,
  kReduction,
  kShared,
  kOther
};

enum class TypeRule : uint8_t {
  kNone,          // no results
  kSame,          // the common type of the operands
  kExplicit,      // given by whoever builds the op, checked by the verifier
  kFirstOperand,  // type of operand 0
  kI32,
  kArange,
  kExpandDims,
  kPermute,
  kJoin,
  kSplit,
  kCat,
  kCompare,
  kSelect,
  kLoad,
  kAtomic,
  kDot,
  kReduce,
  kScan,
  kGather,
  kHistogram,
  kLoopCarried,
  kSlot
};

enum Trait : uint8_t {
  kNoTraits = 0,
  kPure = 1,         // no effect, result depends on operands and attributes alone
  kCommutative = 2,  // the first two operands may be swapped
  kReads = 4,        // reads memory
  kWrites = 8,       // writes memory or must stay for another reason
  kTerminator = 16,  // ends a region
  kCombines = 32,  // its region combines two elements, lhs... and rhs..., and sees nothing outside
};

struct OpInfo {
  std::string_view mnemonic = {};
  Family family = Family::kOther;
  std::string_view operands = {};
  std::string_view attrs = {};
  int regions = 0;
  int results = 0;
  int traits = kNoTraits;
  TypeRule type_rule = TypeRule::kNone;
  std::string_view doc = {};

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

// Fills in the columns that all element-wise rows share.
constexpr OpInfo elementwise(OpInfo row) {
  row.family = Family::kElementwise;
  row.results = 1;
  if (row.traits == kNoTraits) row.traits = kPure;
  if (row.type_rule == TypeRule::kNone) row.type_rule = TypeRule::kSame;
  return row;
}

inline constexpr OpInfo kOpTable[] = {
#define TW_OP(name, ...) OpInfo{__VA_ARGS__},
#define TW_EW_OP(name, ...) elementwise(OpInfo{__VA_ARGS__}),
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};
inline constexpr int kOpCount = static_cast<int>(std::size(kOpTable));

constexpr const OpInfo& op_info(Op op) {
  return kOpTable[static_cast<int>(op)];
}
std::optional<Op> op_from_mnemonic(std::string_view mnemonic);

// The `.operands` column, taken apart. maximum is -1 for any number.
struct OperandSpec {
  std::vector<std::string_view> names;  // without brackets and dots; the last one may repeat
  int minimum = 0;
  int maximum = 0;

  std::string_view name(int index) const {
    return names[std::min<size_t>(index, names.size() - 1)];
  }
};
const OperandSpec& operand_spec(Op op);

// One entry of the `.attrs` column, taken apart.
struct AttrSpec {
  enum class Kind : uint8_t { kInt, kFloat, kNumber, kList, kText, kWord };
  std::string_view key;
  Kind kind{};
  std::vector<std::string_view> words;  // kWord: what is allowed; the first is the default
  bool optional = false;
};
const std::vector<AttrSpec>& attr_specs(Op op);
// The entry of a key, or null if the op has no such attribute.
const AttrSpec* find_attr_spec(Op op, std::string_view key);

}  // namespace tilewright::ir
