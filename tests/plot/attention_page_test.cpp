#include "heed/plot/attention_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "heed/tensor/create.h"
#include "tests/plot/small_view.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

// What stands between the page's data tags.
std::string data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

const io::Value& member(const io::Value& value, std::string_view key) {
  return *io::find(*value.table(), key);
}

TEST(AttentionPage, HoldsAllWeightsAndTokens) {
  const io::Value data = io::parse_json(data_of(attention_html(test::small_view())), "page");
  EXPECT_EQ(*member(data, "text").string(), "a <cat> & </script>");
  EXPECT_EQ(*member(data, "result").string(), "猫");
  const io::Value::List& parts = *member(data, "parts").list();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(*member(parts[2], "kind").string(), "cross");
  EXPECT_EQ(*member(parts[2], "columns").list()->at(1).string(), "</s>");
  const io::Value& layer = member(parts[0], "layers").list()->at(0);
  EXPECT_EQ(*member(layer, "heads").integer(), 3);
  // 12 weights i / 64 as round(65535 i / 64), 16 bits each, low byte first.
  EXPECT_EQ(*member(layer, "weights").string(), "AAAABAAIAAwAEAAUABgAHAAgACQAKAAs");
}

TEST(AttentionPage, HoldsTheAlignmentOfATranslator) {
  AttentionView view = test::small_view();
  view.alignment = {};
  EXPECT_EQ(io::find(*io::parse_json(attention_data(view), "page").table(), "alignment"), nullptr);
  const std::vector<float> weights = {1.0f, 0.0f};
  view.alignment = from_values(std::span<const float>(weights), {1, 2});
  EXPECT_EQ(*member(io::parse_json(attention_data(view), "page"), "alignment").string(),
            "//8AAA==");
}

TEST(AttentionPage, IsOneFileThatNothingInItCanBreak) {
  AttentionView view = test::small_view();
  view.text = "{{data}} {{title}} </script><script>alert(1)</script>";
  const std::string page = attention_html(view);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("<title>{{data}} {{title}} &lt;/script&gt;"));
  EXPECT_EQ(*member(io::parse_json(data_of(page), "page"), "text").string(), view.text);
  for (const char* const outside : {"http:", "https:", "src=", "<link", "import"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(AttentionPage, OpensWithWhatIsSelected) {
  const AttentionSelection selection{.kind = AttentionKind::decoder, .layer = 2, .head = 1};
  const io::Value data =
      io::parse_json(data_of(attention_html(test::small_view(), selection)), "page");
  EXPECT_EQ(*member(member(data, "start"), "kind").string(), "decoder");
  EXPECT_EQ(*member(member(data, "start"), "layer").integer(), 2);
  EXPECT_EQ(*member(member(data, "start"), "head").integer(), 1);
  EXPECT_EQ(member(data, "parts").list()->size(), 3u);
  EXPECT_THAT(error_message([] { attention_html(test::small_view(), {.layer = 9}); }),
              HasSubstr("--layer 9"));
}

}  // namespace
}  // namespace heed::plot
