#include "heed/serve/html_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace heed::serve {
namespace {

using testing::ElementsAre;

HtmlPart text(std::string content) { return {std::move(content), true}; }
HtmlPart markup(std::string content) { return {std::move(content), false}; }

TEST(HtmlText, KeepsTags) {
  EXPECT_THAT(split_html("<p class=\"a>b\">A <b>dog</b></p>"),
              ElementsAre(markup("<p class=\"a>b\">"), text("A "), markup("<b>"), text("dog"),
                          markup("</b></p>")));
  EXPECT_THAT(split_html("a<!-- <b> --> c"),
              ElementsAre(text("a"), markup("<!-- <b> -->"), text(" c")));
  EXPECT_THAT(split_html("x<SCRIPT>if (a < b) {}</script>y<br/>z"),
              ElementsAre(text("x"), markup("<SCRIPT>if (a < b) {}</script>"), text("y"),
                          markup("<br/>"), text("z")));
}

TEST(HtmlText, ReadsCharacterReferences) {
  EXPECT_THAT(split_html("&lt;a&gt; &amp;amp; &#65;&#x42; &nbsp;&unknown; 3 < 4"),
              ElementsAre(text("<a> &amp; AB \u00a0&unknown; 3 < 4")));
  EXPECT_EQ(escape_html("<a> & b"), "&lt;a&gt; &amp; b");
}

TEST(HtmlText, SurvivesWhatIsNoHtml) {
  for (const std::string_view html : {"<", "<<", "<a", "<!--", "<script>", "&#;", "&#x;", "&", "",
                                      "<a b='", "&#99999999;", "</", "< >"}) {
    std::string whole;
    for (const HtmlPart& part : split_html(html)) {
      whole += part.is_text ? escape_html(part.text) : part.text;
    }
    EXPECT_GE(whole.size(), html.size() > 8 ? 1 : html.size()) << html;
  }
}

// As for sentences: with time that grows as the square of the length, these take minutes.
TEST(HtmlText, TakesTimeInProportionToTheText) {
  const std::clock_t began = std::clock();
  for (const std::string_view part : {"&", "&#", "<", "<a", "<pre>", "<!--", "</", "a<b c='>"}) {
    std::string html;
    while (html.size() < 1 << 20) html += part;
    EXPECT_FALSE(split_html(html).empty());
  }
  EXPECT_LT(std::clock() - began, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace heed::serve
