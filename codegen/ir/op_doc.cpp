#include "codegen/ir/op_doc.h"

namespace tilewright::ir {
namespace {

struct FamilyRow {
  Family family;
  std::string_view title;
  std::string_view about;
};

constexpr FamilyRow kFamilies[] = {
    {Family::kControl, "Control", "Regions and what ends them."},
    {Family::kSource, "Sources", "Values out of nothing."},
    {Family::kShape, "Shape", "Elements move, their values stay."},
    {Family::kElementwise, "Element-wise",
     "All operands and the result share one shape; scalars are the empty shape."},
    {Family::kMemory, "Memory", "Pointers are scalars or tiles; masks have the pointers' shape."},
    {Family::kMatrix, "Matrix", ""},
    {Family::kReduction, "Across elements", ""},
    {Family::kShared, "Shared memory",
     "Scheduled IR only, which the CUDA backend makes just before it assigns layouts. A buffer has "
     "slots that hold a tile each; it is made at one place, used by these ops alone, and never "
     "passed on by yield. Copies into a slot are asynchronous: they may land at any time up to the "
     "copy_wait that demands their group, and until then nothing of the slot may be read. A slot "
     "may be written again once a copy_wait or barrier stands between its last shared_load and the "
     "write."},
    {Family::kOther, "Others", ""},
};

std::string_view rule_text(TypeRule rule) {
  switch (rule) {
    case TypeRule::kNone:
      return "no result";
    case TypeRule::kSame:
      return "the operands' common type";
    case TypeRule::kExplicit:
      return "as written";
    case TypeRule::kFirstOperand:
      return "the type of the first operand";
    case TypeRule::kI32:
      return "i32";
    case TypeRule::kArange:
      return "i32 vector";
    case TypeRule::kExpandDims:
      return "x with a unit dimension more";
    case TypeRule::kPermute:
      return "x with its dimensions in another order";
    case TypeRule::kJoin:
      return "a with a last dimension of 2";
    case TypeRule::kSplit:
      return "x without its last dimension, twice";
    case TypeRule::kCat:
      return "a, twice as long along axis";
    case TypeRule::kCompare:
      return "i1 of the operands' shape";
    case TypeRule::kSelect:
      return "the type of a";
    case TypeRule::kLoad:
    case TypeRule::kAtomic:
      return "the pointee in the pointers' shape";
    case TypeRule::kDot:
      return "the type of acc";
    case TypeRule::kReduce:
      return "the operands without axis";
    case TypeRule::kScan:
      return "the types of the operands";
    case TypeRule::kGather:
      return "the elements of src in the shape of index";
    case TypeRule::kHistogram:
      return "i32 vector of bins";
    case TypeRule::kLoopCarried:
      return "the types of init";
    case TypeRule::kSlot:
      return "the tile of one slot";
  }
  return "";
}

std::string traits_text(const OpInfo& info) {
  std::string out;
  auto add = [&](Trait trait, std::string_view word) {
    if (info.has(trait)) out += (out.empty() ? "" : ", ") + std::string(word);
  };
  add(kPure, "pure");
  add(kCommutative, "commutative");
  add(kReads, "reads");
  add(kWrites, "writes");
  add(kTerminator, "terminator");
  return out.empty() ? "as its regions" : out;
}

}  // namespace

std::string op_doc(Op op) {
  const OpInfo& info = op_info(op);
  std::string out = "### `" + std::string(info.mnemonic);
  if (!info.operands.empty()) out += " " + std::string(info.operands);
  out += "`\n" + std::string(info.doc) + ".\n\n";
  out += "- result: " + std::string(rule_text(info.type_rule)) + "\n";
  out += "- effects: " + traits_text(info) + "\n";
  if (!info.attrs.empty()) {
    out += "- attributes:";
    for (const AttrSpec& spec : attr_specs(op)) {
      size_t begin = info.attrs.find(std::string(spec.key) + ":");
      std::string_view text = info.attrs.substr(begin);
      out += " `" + std::string(text.substr(0, text.find(' '))) + "`";
    }
    out += "\n";
  }
  if (info.regions > 0) out += "- regions: " + std::to_string(info.regions) + "\n";
  return out + "\n";
}

std::string ops_page() {
  std::string out =
      "# Ops of the tile IR\n\n"
      "Written from `ops.def`; a test fails when this page is not what the table says. `[x]` is an "
      "optional operand,\n`x...` any number; an attribute with `?` is optional and its first word "
      "is "
      "the default.\n\n";
  for (const FamilyRow& row : kFamilies) {
    out += "## " + std::string(row.title) + "\n";
    out += row.about.empty() ? "\n" : std::string(row.about) + "\n\n";
    for (int i = 0; i < kOpCount; ++i)
      if (kOpTable[i].family == row.family) out += op_doc(static_cast<Op>(i));
  }
  return out;
}

}  // namespace tilewright::ir
