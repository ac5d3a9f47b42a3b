#include "dsl/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace tilewright {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return make_error(DiagKind::kBadArgument, "it is odd", "give an even number");
  return x / 2;
}

Result<int> quarter(int x) {
  TW_ASSIGN(int h, half(x));
  TW_ASSIGN(h, half(h));
  return h;
}

Status check(int x) {
  TW_TRY(half(x));
  TW_TRY(quarter(x));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error().kind, DiagKind::kBadArgument);
}

TEST(Result, ErrorsTravelThroughTheMacros) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "it is odd");
  EXPECT_TRUE(check(8).ok());
  EXPECT_FALSE(check(6).ok());
  EXPECT_FALSE(check(1).ok());
}

TEST(Result, ValueThrowsWithTheWholeText) {
  try {
    half(3).value();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "error: it is odd [bad-argument]\nhint: give an even number");
    EXPECT_EQ(error.info().message, "it is odd");
  }
  EXPECT_THROW(check(1).value(), Error);
  EXPECT_NO_THROW(check(8).value());
}

TEST(Result, DetailsReplaceTheMessage) {
  ErrorInfo info = make_error(DiagKind::kSyntax, "short", "do this");
  info.details = "k.py:1:1: error: long [syntax]\n  x\n  ^\n\n";
  EXPECT_EQ(info.text(), "k.py:1:1: error: long [syntax]\n  x\n  ^\nhint: do this");
}

TEST(Result, MoveOnlyValues) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  std::unique_ptr<int> owned = make().value();
  EXPECT_EQ(*owned, 7);
}

}  // namespace
}  // namespace tilewright
