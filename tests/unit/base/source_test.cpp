#include "dsl/base/source.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Source, LinesAndColumns) {
  SourceFile file("a.py", "one\ntwo\r\n\nfour");
  EXPECT_EQ(file.locate(0).line, 1u);
  EXPECT_EQ(file.locate(0).column, 1u);
  EXPECT_EQ(file.locate(3).column, 4u);  // the line break belongs to its line
  EXPECT_EQ(file.locate(4).line, 2u);
  EXPECT_EQ(file.locate(6).column, 3u);
  EXPECT_EQ(file.locate(9).line, 3u);
  EXPECT_EQ(file.locate(12).line, 4u);
  EXPECT_EQ(file.locate(1000).column, 5u);  // past the end: the end
  EXPECT_EQ(file.line(1), "one");
  EXPECT_EQ(file.line(2), "two");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "four");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(5), "");
}

TEST(Source, EmptyFile) {
  SourceFile file("a.py", "");
  EXPECT_EQ(file.locate(0).line, 1u);
  EXPECT_EQ(file.line(1), "");
}

TEST(Source, SpansAreJoinedWithinAFile) {
  EXPECT_EQ(join({2, 4, 0}, {7, 9, 0}), (Span{2, 9, 0}));
  EXPECT_EQ(join({7, 9, 0}, {2, 4, 0}), (Span{2, 9, 0}));
  EXPECT_EQ(join({2, 4, 0}, {7, 9, 1}), (Span{2, 4, 0}));
  EXPECT_EQ(join({}, {7, 9, 1}), (Span{7, 9, 1}));
  EXPECT_EQ(join({2, 4, 0}, {}), (Span{2, 4, 0}));
}

TEST(Source, MapDescribesSpans) {
  SourceMap map;
  uint16_t a = map.add("a.py", "xy\nz"), b = map.add("b.py", "w");
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(map.text({0, 2, a}), "xy");
  EXPECT_EQ(map.text({3, 100, a}), "z");
  EXPECT_EQ(map.text({5, 3, a}), "");
  EXPECT_EQ(map.text({}), "");
  EXPECT_EQ(map.describe({3, 4, a}), "a.py:2:1");
  EXPECT_EQ(map.describe({0, 1, b}), "b.py:1:1");
  EXPECT_EQ(map.describe({}), "<unknown>");
  EXPECT_EQ(map.describe({0, 1, 7}), "<unknown>");
}

}  // namespace
}  // namespace tilewright
