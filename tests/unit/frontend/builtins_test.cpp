// The table of builtins is consistent, and names are found the ways kernels spell them.
#include "frontend/builtins.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

namespace tilewright::frontend {
namespace {

TEST(Builtins, EveryRowHasParametersAndADoc) {
  std::set<std::string_view> names;
  for (const Builtin& row : all_builtins()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.kind == Builtin::Kind::kDialect) continue;
    const Builtin* found = find_builtin(row.name);
    ASSERT_NE(found, nullptr) << row.name;
    EXPECT_NE(found->kind, Builtin::Kind::kAlias) << row.name;
    EXPECT_FALSE(found->doc.empty()) << row.name;
    // A parameter without a default does not follow one with a default.
    bool defaults = false;
    for (const BuiltinParam& param : builtin_params(*found)) {
      EXPECT_FALSE(param.name.empty()) << row.name;
      if (param.variadic) break;
      EXPECT_FALSE(defaults && !param.default_value) << row.name << " " << param.name;
      defaults |= param.default_value.has_value();
    }
  }
}

// `TILEWRIGHT_BLESS=1 unit_frontend --gtest_filter=Builtins.Page` rewrites the page.
TEST(Builtins, Page) {
  std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/frontend/BUILTINS.md";
  if (std::getenv("TILEWRIGHT_BLESS")) std::ofstream(path, std::ios::binary) << builtins_page();
  std::ifstream in(path, std::ios::binary);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(in), {}}), builtins_page());
}

TEST(Builtins, Parameters) {
  const auto& load = builtin_params(*find_builtin("tl.load"));
  ASSERT_EQ(load.size(), 8u);
  EXPECT_FALSE(load[0].default_value);
  EXPECT_EQ(load[1].name, "mask");
  EXPECT_EQ(load[1].default_value->kind, Constant::Kind::kNone);
  EXPECT_EQ(load[3].default_value->kind, Constant::Kind::kTuple);
  EXPECT_EQ(load[4].default_value->text, "");
  EXPECT_TRUE(builtin_params(*find_builtin("tl.reshape"))[1].variadic);
}

TEST(Builtins, CanonicalNames) {
  EXPECT_EQ(canonical_name("triton.language.load"), "tl.load");
  EXPECT_EQ(canonical_name("triton.language.math.exp2"), "tl.math.exp2");
  EXPECT_EQ(canonical_name("triton.language.extra.cuda.libdevice.tanh"), "libdevice.tanh");
  EXPECT_EQ(canonical_name("triton.language.extra.libdevice.tanh"), "libdevice.tanh");
  EXPECT_EQ(canonical_name("tl.libdevice.tanh"), "libdevice.tanh");
  EXPECT_EQ(canonical_name("tl.math.tanh"), "libdevice.tanh");  // Triton 2's spelling
  EXPECT_EQ(canonical_name("tl.math.exp"), "tl.math.exp");
  EXPECT_EQ(canonical_name("triton.language.core.constexpr"), "tl.constexpr");
  EXPECT_EQ(canonical_name("triton.language.standard.cdiv"), "tl.cdiv");
  EXPECT_EQ(canonical_name("tlx.load"), "tlx.load");
}

TEST(Builtins, KindsOfNames) {
  EXPECT_EQ(find_builtin("tl.extra.cuda.smid")->kind, Builtin::Kind::kUnsupported);
  EXPECT_EQ(find_builtin("tl.interleave")->kind, Builtin::Kind::kLibrary);
  EXPECT_EQ(find_builtin("tensor.cumsum"), find_builtin("tl.cumsum"));
  EXPECT_EQ(find_builtin("tl.sigmoid")->kind, Builtin::Kind::kLibrary);
  EXPECT_EQ(find_builtin("tl.math.exp"), find_builtin("tl.exp"));
  EXPECT_EQ(find_builtin("tl.nothing"), nullptr);
  EXPECT_EQ(builtin_constant("tl.bfloat16")->dtype, Dtype::kBF16);
  EXPECT_FALSE(builtin_constant("tl.bf16"));
  EXPECT_EQ(builtin_constant("tl.PropagateNan.ALL")->text, "ALL");
  EXPECT_NE(find_dialect("triton.experimental.gluon.language"), nullptr);
  EXPECT_EQ(find_dialect("triton.experimental.gluonish"), nullptr);
  EXPECT_EQ(nearest_builtin("tl.sofmax"), "tl.softmax");
  EXPECT_EQ(nearest_builtin("tl.completely_different"), "");
}

}  // namespace
}  // namespace tilewright::frontend
