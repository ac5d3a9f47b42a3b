// The op table and what is derived from it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "codegen/ir/op_doc.h"
#include "codegen/ir/op_info.h"

namespace tilewright::ir {
namespace {

TEST(OpTable, MnemonicsNameTheirOps) {
  std::set<std::string_view> seen;
  for (int i = 0; i < kOpCount; ++i) {
    EXPECT_TRUE(seen.insert(kOpTable[i].mnemonic).second) << kOpTable[i].mnemonic;
    EXPECT_EQ(op_from_mnemonic(kOpTable[i].mnemonic), static_cast<Op>(i));
  }
  EXPECT_FALSE(op_from_mnemonic("frobnicate"));
  EXPECT_FALSE(op_from_mnemonic(""));
}

TEST(OpTable, ColumnsAreTakenApart) {
  const OperandSpec& load = operand_spec(Op::Load);
  EXPECT_EQ(load.minimum, 1);
  EXPECT_EQ(load.maximum, 3);
  EXPECT_EQ(load.name(2), "other");
  const OperandSpec& loop = operand_spec(Op::For);
  EXPECT_EQ(loop.minimum, 3);
  EXPECT_EQ(loop.maximum, -1);
  EXPECT_EQ(loop.name(9), "init");
  const AttrSpec* pred = find_attr_spec(Op::Cmp, "pred");
  ASSERT_NE(pred, nullptr);
  EXPECT_FALSE(pred->optional);
  EXPECT_EQ(pred->words, (std::vector<std::string_view>{"eq", "ne", "lt", "le", "gt", "ge"}));
  EXPECT_EQ(find_attr_spec(Op::Cmp, "axis"), nullptr);
  EXPECT_TRUE(find_attr_spec(Op::Load, "evict")->optional);
}

TEST(OpTable, RowsAreConsistent) {
  for (int i = 0; i < kOpCount; ++i) {
    const OpInfo& info = kOpTable[i];
    EXPECT_FALSE(info.doc.empty()) << info.mnemonic;
    if (info.has(kCommutative)) {
      EXPECT_GE(operand_spec(static_cast<Op>(i)).minimum, 2) << info.mnemonic;
    }
    if (info.has(kPure)) {
      EXPECT_FALSE(info.has(kReads) || info.has(kWrites)) << info.mnemonic;
    }
    for (const AttrSpec& spec : attr_specs(static_cast<Op>(i)))
      if (spec.kind == AttrSpec::Kind::kWord) {
        EXPECT_GE(spec.words.size(), 2u) << info.mnemonic;
      }
  }
}

// Set TILEWRIGHT_BLESS=1 to write the page.
TEST(OpTable, PageIsCurrent) {
  std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/codegen/ir/OPS.md";
  if (std::getenv("TILEWRIGHT_BLESS") != nullptr) std::ofstream(path) << ops_page();
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), ops_page()) << "write it anew: TILEWRIGHT_BLESS=1 unit_ir";
}

}  // namespace
}  // namespace tilewright::ir
