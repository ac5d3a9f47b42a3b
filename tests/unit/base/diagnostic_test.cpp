#include "dsl/base/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

#include "dsl/base/check.h"

namespace tilewright {
namespace {

TEST(Diagnostic, KindsHaveKebabCaseNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < diag_kind_count(); ++i) {
    auto kind = static_cast<DiagKind>(i);
    std::string_view name = diag_name(kind);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), name.npos) << name;
    EXPECT_FALSE(diag_doc(kind).empty()) << name;
    EXPECT_NE(diag_doc(kind).back(), '.') << name;
  }
}

TEST(Diagnostic, RendersCaretLineAndNotes) {
  SourceMap map;
  uint16_t file = map.add("k.py", "x = 1\n\ty = foo(bar)\n");
  DiagSink sink;
  sink.error(DiagKind::kUnknownName, {11, 14, file}, "'foo' is not defined")
      .notes.push_back({{0, 1, file}, "see here"});
  EXPECT_EQ(render(sink, map),
            "k.py:2:6: error: 'foo' is not defined [unknown-name]\n"
            "  \ty = foo(bar)\n"
            "  \t    ^~~\n"
            "k.py:1:1: note: see here\n"
            "  x = 1\n"
            "  ^\n");
}

TEST(Diagnostic, CaretsStayOnTheirLine) {
  SourceMap map;
  uint16_t file = map.add("k.py", "ab\ncd");
  auto shown = [&](Span span) {
    return render(Diagnostic{DiagKind::kSyntax, Severity::kWarning, span, "w", {}}, map);
  };
  EXPECT_EQ(shown({1, 5, file}), "k.py:1:2: warning: w [syntax]\n  ab\n   ^\n");
  EXPECT_EQ(shown({5, 5, file}), "k.py:2:3: warning: w [syntax]\n  cd\n    ^\n");
  EXPECT_EQ(shown({}), "<unknown>: warning: w [syntax]\n");
}

TEST(Diagnostic, SortsByPositionAndKeepsTwenty) {
  SourceMap map;
  uint16_t a = map.add("a.py", std::string(100, 'x')), b = map.add("b.py", "x");
  DiagSink sink;
  sink.error(DiagKind::kSyntax, {0, 1, b}, "in b");
  sink.warning(DiagKind::kSyntax, {50, 51, a}, "second");
  sink.error(DiagKind::kSyntax, {50, 51, a}, "third");
  sink.error(DiagKind::kSyntax, {3, 4, a}, "first");
  sink.sort();
  std::string order;
  for (const Diagnostic& d : sink.all()) order += d.message + " ";
  EXPECT_EQ(order, "first second third in b ");
  EXPECT_EQ(sink.error_count(), 3);
  for (int i = 0; i < 20; ++i) sink.error(DiagKind::kSyntax, {0, 1, a}, "more");
  EXPECT_EQ(sink.error_count(), 23);
  EXPECT_EQ(sink.all().size(), 21u);  // 20 errors and the warning
  EXPECT_TRUE(render(sink, map).ends_with("(3 more errors)\n"));
}

TEST(Diagnostic, WarningsAreNoErrors) {
  DiagSink sink;
  sink.warning(DiagKind::kSyntax, {}, "careful");
  EXPECT_FALSE(sink.has_errors());
}

TEST(Diagnostic, MessagesFollowTheRules) {
  DiagSink sink;
  EXPECT_THROW(sink.error(DiagKind::kSyntax, {}, "ends with a period."), InternalError);
  EXPECT_THROW(sink.error(DiagKind::kSyntax, {}, "two\nlines"), InternalError);
  EXPECT_THROW(sink.error(DiagKind::kSyntax, {}, ""), InternalError);
}

TEST(Diagnostic, InternalErrorsNameTheirPlace) {
  try {
    TW_CHECK(1 + 1 == 3, "arithmetic");
    FAIL();
  } catch (const InternalError& error) {
    std::string what = error.what();
    EXPECT_TRUE(what.starts_with("internal error at diagnostic_test.cpp:")) << what;
    EXPECT_TRUE(what.ends_with("1 + 1 == 3: arithmetic")) << what;
  }
}

}  // namespace
}  // namespace tilewright
