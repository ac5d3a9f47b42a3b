#include "codegen/ir/op_info.h"

#include <algorithm>

namespace tilewright::ir {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

OperandSpec parse_operands(std::string_view column) {
  OperandSpec spec;
  for (std::string_view word : split(column, ' ')) {
    if (word.ends_with("...")) {
      spec.names.push_back(word.substr(0, word.size() - 3));
      spec.maximum = -1;
    } else if (word.starts_with('[')) {
      spec.names.push_back(word.substr(1, word.size() - 2));
      ++spec.maximum;
    } else {
      spec.names.push_back(word);
      ++spec.minimum;
      ++spec.maximum;
    }
  }
  return spec;
}

AttrSpec::Kind attr_kind(std::string_view text) {
  if (text == "int") return AttrSpec::Kind::kInt;
  if (text == "float") return AttrSpec::Kind::kFloat;
  if (text == "number") return AttrSpec::Kind::kNumber;
  if (text == "list") return AttrSpec::Kind::kList;
  if (text == "text") return AttrSpec::Kind::kText;
  return AttrSpec::Kind::kWord;
}

std::vector<AttrSpec> parse_attrs(std::string_view column) {
  std::vector<AttrSpec> specs;
  for (std::string_view word : split(column, ' ')) {
    AttrSpec spec;
    spec.optional = word.ends_with('?');
    if (spec.optional) word.remove_suffix(1);
    size_t colon = word.find(':');
    spec.key = word.substr(0, colon);
    std::string_view kind = word.substr(colon + 1);
    spec.kind = attr_kind(kind);
    if (spec.kind == AttrSpec::Kind::kWord) spec.words = split(kind, '|');
    specs.push_back(std::move(spec));
  }
  return specs;
}

struct ParsedTable {
  std::array<OperandSpec, kOpCount> operands;
  std::array<std::vector<AttrSpec>, kOpCount> attrs;
  std::vector<std::pair<std::string_view, Op>> mnemonics;  // sorted

  ParsedTable() {
    for (int i = 0; i < kOpCount; ++i) {
      operands[i] = parse_operands(kOpTable[i].operands);
      attrs[i] = parse_attrs(kOpTable[i].attrs);
      mnemonics.emplace_back(kOpTable[i].mnemonic, static_cast<Op>(i));
    }
    std::sort(mnemonics.begin(), mnemonics.end());
  }
};

const ParsedTable& table() {
  static const ParsedTable parsed;
  return parsed;
}

}  // namespace

const OperandSpec& operand_spec(Op op) {
  return table().operands[static_cast<int>(op)];
}

const std::vector<AttrSpec>& attr_specs(Op op) {
  return table().attrs[static_cast<int>(op)];
}

const AttrSpec* find_attr_spec(Op op, std::string_view key) {
  for (const AttrSpec& spec : attr_specs(op))
    if (spec.key == key) return &spec;
  return nullptr;
}

std::optional<Op> op_from_mnemonic(std::string_view mnemonic) {
  const auto& rows = table().mnemonics;
  auto it = std::lower_bound(rows.begin(), rows.end(), std::pair(mnemonic, Op{}));
  if (it == rows.end() || it->first != mnemonic) return std::nullopt;
  return it->second;
}

}  // namespace tilewright::ir
