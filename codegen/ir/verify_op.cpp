#include <algorithm>
#include <bit>

#include "codegen/ir/verifier.h"

namespace tilewright::ir {
namespace {

std::string words_text(const AttrSpec& spec) {
  std::string out;
  for (size_t i = 0; i < spec.words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == spec.words.size() ? " or " : ", ") + std::string(spec.words[i]);
  return out;
}

// What is wrong with an attribute's value, or nothing.
std::string check_attr_value(const AttrSpec& spec, const AttrValue& value) {
  bool is_int = std::holds_alternative<int64_t>(value);
  const auto* word = std::get_if<std::string>(&value);
  switch (spec.kind) {
    case AttrSpec::Kind::kInt:
      return is_int ? "" : "must be an integer";
    case AttrSpec::Kind::kFloat:
      return std::holds_alternative<double>(value) ? "" : "must be a float, such as 1.0";
    case AttrSpec::Kind::kNumber:
      return is_int || std::holds_alternative<double>(value) ? "" : "must be a number";
    case AttrSpec::Kind::kList:
      return std::holds_alternative<std::vector<int64_t>>(value) ? "" : "must be a list";
    case AttrSpec::Kind::kText:
      return word ? "" : "must be text";
    case AttrSpec::Kind::kWord:
      if (word && std::find(spec.words.begin(), spec.words.end(), *word) != spec.words.end())
        return "";
      return (word ? "is '" + *word + "', but must be " : "must be ") + words_text(spec);
  }
  return "";
}

std::string check_attrs(const OpNode& node) {
  std::string label = std::string(op_info(node.op).mnemonic) + ": attribute '";
  for (const auto& [key, value] : node.attrs) {
    const AttrSpec* spec = find_attr_spec(node.op, key);
    if (spec == nullptr)
      return std::string(op_info(node.op).mnemonic) + " has no attribute '" + key + "'";
    std::string wrong = check_attr_value(*spec, value);
    if (!wrong.empty()) return label + key + "' " + wrong;
  }
  for (const AttrSpec& spec : attr_specs(node.op))
    if (!spec.optional && !node.attrs.has(spec.key))
      return label + std::string(spec.key) + "' is missing";
  return "";
}

// Result types against the type rule. Returns whether types can be looked at further.
bool check_result_types(Verifier& v, OpId id) {
  const OpNode& node = v.module.op(id);
  const OpInfo& info = op_info(node.op);
  std::string mnemonic(info.mnemonic);
  const OperandSpec& spec = operand_spec(node.op);
  auto operands = static_cast<int>(node.operands.size());
  if (operands < spec.minimum || (spec.maximum >= 0 && operands > spec.maximum)) {
    v.error(DiagKind::kIrType, id,
            mnemonic + ": has " + std::to_string(operands) + " operands, but takes (" +
                std::string(info.operands) + ")");
    return false;
  }
  if (info.type_rule == TypeRule::kExplicit) {
    if (info.results < 0 || static_cast<int>(node.results.size()) == info.results) return true;
    v.error(DiagKind::kIrType, id,
            mnemonic + ": has " + std::to_string(node.results.size()) + " results, but must have " +
                std::to_string(info.results));
    return false;
  }
  auto expected = infer_types(v.module, node.op, node.operands, node.attrs, node.regions);
  if (!expected.ok()) {
    v.error(expected.error().kind, id, expected.error().message);
    return false;
  }
  if (expected->size() != node.results.size()) {
    v.error(DiagKind::kIrType, id,
            mnemonic + ": has " + std::to_string(node.results.size()) + " results, but must have " +
                std::to_string(expected->size()));
    return false;
  }
  for (size_t i = 0; i < expected->size(); ++i) {
    const Type& actual = v.module.type(node.results[i]);
    if (actual == (*expected)[i]) continue;
    v.error(DiagKind::kIrType, id,
            mnemonic + ": the result is " + to_string(actual) + ", but must be " +
                to_string((*expected)[i]));
    return false;
  }
  return true;
}

// The types of some values against what they must be.
bool check_types(Verifier& v, OpId where, const std::string& what,
                 const std::vector<ValueId>& values, size_t first,
                 const std::vector<Type>& expected) {
  if (values.size() - first != expected.size()) {
    v.error(DiagKind::kIrType, where,
            what + ": the number of values is " + std::to_string(values.size() - first) +
                ", but must be " + std::to_string(expected.size()));
    return false;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const Type& actual = v.module.type(values[first + i]);
    if (actual == expected[i]) continue;
    v.error(DiagKind::kIrType, where,
            what + ": value " + std::to_string(i) + " is " + to_string(actual) + ", but must be " +
                to_string(expected[i]));
    return false;
  }
  return true;
}

void check_region(Verifier& v, OpId owner, size_t index, const std::vector<Type>& args,
                  const std::vector<Type>& yields) {
  const Region& region = v.module.region(v.module.op(owner).regions[index]);
  std::string mnemonic(op_info(v.module.op(owner).op).mnemonic);
  std::string which = "arguments of region " + std::to_string(index + 1) + " of " + mnemonic;
  if (!check_types(v, owner, which, region.args, 0, args)) return;
  OpId last = region.ops.back();
  const OpNode& terminator = v.module.op(last);
  size_t first = terminator.op == Op::Condition ? 1 : 0;
  check_types(v, last, std::string(op_info(terminator.op).mnemonic), terminator.operands, first,
              yields);
}

std::vector<Type> types_of(const Module& module, const std::vector<ValueId>& values) {
  std::vector<Type> types;
  for (ValueId value : values) types.push_back(module.type(value));
  return types;
}

void verify_combining_region(Verifier& v, OpId id) {
  const OpNode& node = v.module.op(id);
  std::vector<Type> elements;
  for (ValueId operand : node.operands) elements.push_back(v.module.type(operand).element());
  std::vector<Type> args = elements;
  args.insert(args.end(), elements.begin(), elements.end());
  check_region(v, id, 0, args, elements);
  walk(v.module, node.regions[0], [&](OpId op) {
    const OpInfo& info = op_info(v.module.op(op).op);
    if (!info.has(kPure) && !info.has(kTerminator) && v.module.op(op).op != Op::If)
      v.error(DiagKind::kIrStructure, op,
              "'" + std::string(info.mnemonic) +
                  "' is used inside a reduction or scan, whose region holds pure ops only");
  });
}

}  // namespace

std::string check_type(const Type& type) {
  constexpr int64_t kMaxElements = int64_t{1} << 20, kMaxSlots = 64;
  if (type.is_shared) {
    if (type.rank() < 2 || type.shape[0] < 1 || type.shape[0] > kMaxSlots)
      return to_string(type) + " is not a buffer of 1 to 64 slots that hold a tile each";
    return check_type(type.slot());
  }
  if (type.rank() > 5)
    return to_string(type) + " has " + std::to_string(type.rank()) +
           " dimensions, but at most 5 are allowed";
  int64_t count = 1;
  for (int64_t extent : type.shape) {
    if (extent < 1 || !std::has_single_bit(static_cast<uint64_t>(extent)))
      return "extent " + std::to_string(extent) + " of " + to_string(type) +
             " is not a power of two";
    count = extent > kMaxElements || count > kMaxElements ? kMaxElements + 1 : count * extent;
  }
  if (count > kMaxElements) return to_string(type) + " has more than 1048576 elements";
  return "";
}

void verify_regions(Verifier& v, OpId id) {
  const OpNode& node = v.module.op(id);
  std::vector<Type> results = types_of(v.module, node.results);
  switch (node.op) {
    case Op::For: {
      std::vector<Type> args = results;
      args.insert(args.begin(), v.module.type(node.operands[0]));
      return check_region(v, id, 0, args, results);
    }
    case Op::While:
      check_region(v, id, 0, results, results);
      return check_region(v, id, 1, results, results);
    case Op::If:
      check_region(v, id, 0, {}, results);
      return check_region(v, id, 1, {}, results);
    case Op::Reduce:
    case Op::Scan:
      return verify_combining_region(v, id);
    default:
      return;
  }
}

void verify_op(Verifier& v, OpId id) {
  const OpNode& node = v.module.op(id);
  for (ValueId result : node.results) {
    std::string wrong = check_type(v.module.type(result));
    if (wrong.empty()) continue;
    v.error(DiagKind::kIrType, id, std::string(op_info(node.op).mnemonic) + ": " + wrong);
    return;
  }
  if (std::string wrong = check_attrs(node); !wrong.empty()) {
    v.error(DiagKind::kIrAttribute, id, wrong);
    return;
  }
  if (!check_result_types(v, id)) return;
  if (std::string wrong = check_op_types(v.module, node); !wrong.empty()) {
    v.error(DiagKind::kIrType, id, std::string(op_info(node.op).mnemonic) + ": " + wrong);
    return;
  }
  verify_regions(v, id);
}

}  // namespace tilewright::ir
