#include "heed/plot/attention_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plot/small_view.h"
#include "tests/support/count.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using heed::test::count;
using testing::HasSubstr;
using testing::Not;

TEST(AttentionSheet, HasEveryLayerAndHeadOfEveryKind) {
  const std::string svg = attention_svg(test::small_view());
  for (const char* const kind :
       {"Encoder self-attention", "Decoder self-attention", "Cross-attention"}) {
    EXPECT_EQ(count(svg, std::string(kind) + ", layer "), 6u);
  }
  EXPECT_THAT(svg, HasSubstr("<title>Cross-attention, layer 2, head 3</title>"));
  EXPECT_THAT(svg, HasSubstr(">head 3<"));
  EXPECT_THAT(svg, HasSubstr(">layer 2<"));
}

TEST(AttentionSheet, TextAndTokensAreEscaped) {
  const std::string svg = attention_svg(test::small_view());
  EXPECT_THAT(svg, HasSubstr(">a &lt;cat&gt; &amp; &lt;/script&gt;<"));
  EXPECT_THAT(svg, HasSubstr(">→ 猫<"));
  EXPECT_THAT(svg, HasSubstr(">▁cat<"));
  EXPECT_THAT(svg, HasSubstr(">@@!<"));
  EXPECT_THAT(svg, HasSubstr(">&lt;/s&gt;<"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(AttentionSheet, TheAlignmentIsFramedWhereHardAlignmentsAre) {
  AttentionView view = test::small_view();
  const std::string svg = attention_svg(view);
  EXPECT_THAT(svg, HasSubstr("Alignment"));
  EXPECT_EQ(count(svg, "#e07b00"), 2u);  // a link for each target but the end
  view.alignment = {};
  EXPECT_THAT(attention_svg(view), Not(HasSubstr("Alignment")));
}

TEST(AttentionSheet, AnAlignmentOfNothingButTheEndHasNoFrames) {
  AttentionView view = test::small_view();
  view.parts = {test::some_part(AttentionKind::cross, {"</s>"}, {"a", "</s>"})};
  view.alignment = from_values<float>({0.9f, 0.1f}, {1, 2});
  const std::string svg = attention_svg(view);
  EXPECT_THAT(svg, HasSubstr("Alignment"));
  EXPECT_EQ(count(svg, "#e07b00"), 0u);
}

TEST(AttentionSheet, ASelectionShowsOnlyItselfAndLarger) {
  const std::string svg =
      attention_svg(test::small_view(), {.kind = AttentionKind::cross, .layer = 1, .head = 2});
  EXPECT_EQ(count(svg, "<title>"), 1u);
  EXPECT_THAT(svg, HasSubstr("<title>Cross-attention, layer 1, head 2</title>"));
  EXPECT_THAT(svg, HasSubstr("v24h"));  // squares of 24
  EXPECT_THAT(svg, Not(HasSubstr("Alignment")));
  EXPECT_THAT(attention_svg(test::small_view()), HasSubstr("v12h"));
  EXPECT_EQ(count(attention_svg(test::small_view(), {.layer = 2}), "<title>"), 9u);
}

TEST(AttentionSheet, LongTextsAreCut) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("猫猫", 4), "猫猫");
  EXPECT_EQ(shortened("猫猫猫", 4), "猫…");
  AttentionView view = test::small_view();
  view.parts[0].rows[0] = std::string(40, 'x');
  EXPECT_THAT(attention_svg(view), HasSubstr(">" + std::string(17, 'x') + "…<"));
}

}  // namespace
}  // namespace heed::plot
