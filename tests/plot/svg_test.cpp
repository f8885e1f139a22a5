#include "heed/plot/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;

TEST(Svg, DrawsInOrderOnASheet) {
  Svg svg(100, 50.5, "two things");
  svg.box({1, 2, 3, 4}, "#ff0000");
  svg.line({0, 0}, {10, 10.256}, {.color = "#00ff00", .width = 2, .dashes = "4 2"});
  const std::string text = svg.finish();
  EXPECT_THAT(text, HasSubstr(R"(viewBox="0 0 100 50.5")"));
  EXPECT_THAT(text, HasSubstr(R"(aria-label="two things")"));
  EXPECT_THAT(text, HasSubstr(R"(<rect x="1" y="2" width="3" height="4" fill="#ff0000")"));
  EXPECT_THAT(text,
              HasSubstr(R"(y2="10.26" stroke="#00ff00" stroke-width="2" stroke-dasharray="4 2")"));
  EXPECT_LT(text.find("<rect x=\"1\""), text.find("<line"));
  EXPECT_TRUE(text.ends_with("</svg>\n"));
}

TEST(Svg, WordsAreEscaped) {
  Svg svg(10, 10, "a \"b\"");
  svg.text({1, 2}, "<&>'\x01", {.anchor = "middle", .bold = true, .turn = -90});
  svg.begin_group("x < y");
  svg.end_group();
  const std::string text = svg.finish();
  EXPECT_THAT(text, HasSubstr("aria-label=\"a &quot;b&quot;\""));
  EXPECT_THAT(text, HasSubstr(">&lt;&amp;&gt;&#39;</text>"));
  EXPECT_THAT(text, HasSubstr("font-weight=\"bold\" transform=\"rotate(-90 1 2)\""));
  EXPECT_THAT(text, HasSubstr("<g><title>x &lt; y</title>"));
}

TEST(Svg, NumbersAreFinite) {
  Svg svg(10, 10, "");
  const double bad = std::nan("");
  const std::string said = "position or size is nan";
  EXPECT_THAT(error_message([&] { Svg(bad, 1, ""); }), HasSubstr(said));
  EXPECT_THAT(error_message([&] { svg.box({0, 0, bad, 1}, "#ffffff"); }), HasSubstr(said));
  EXPECT_THAT(error_message([&] { svg.text({bad, 0}, "a"); }), HasSubstr(said));
  const Point path[] = {{0, 0}, {1, bad}};
  EXPECT_THAT(error_message([&] { svg.path(path); }), HasSubstr(said));
}

TEST(Svg, XmlHasNoOtherCharacters) {
  EXPECT_EQ(escape_xml("a\uFFFEb\uFFFFc"), "a\uFFFDb\uFFFDc");
  EXPECT_EQ(escape_xml("\U0001FFFE\uFDD0"), "\uFFFD\uFFFD");
  EXPECT_EQ(escape_xml("a\xff\xed\xa0\x80"), "a\uFFFD\uFFFD\uFFFD\uFFFD") << "not UTF-8";
  EXPECT_EQ(escape_xml("a\u0085\u009b\x7f"
                       "b\t\n"),
            "ab");
  EXPECT_EQ(escape_xml("\uFFFD\U0010FFFD"), "\uFFFD\U0010FFFD");
}

TEST(Svg, ChineseStaysAsItIs) { EXPECT_EQ(escape_xml("注意力"), "注意力"); }

}  // namespace
}  // namespace heed::plot
