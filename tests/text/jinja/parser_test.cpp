// The tags of chat templates.
#include "heed/text/jinja/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::jinja::parser_test {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& source) {
  return error_message([&] { parse(source, "t"); });
}

TEST(JinjaParser, BuildsTheTree) {
  const Body body = parse(
      "a{{ b }}{% if c %}d{% elif e %}f{% else %}g{% endif %}"
      "{% for x, y in z if x %}h{% else %}i{% endfor %}{% set n.m = 1 %}",
      "t");
  ASSERT_EQ(body.size(), 5u);
  EXPECT_EQ(body[0].text, "a");
  EXPECT_EQ(body[1].expression->text, "b");
  EXPECT_EQ(body[2].branches.size(), 3u);
  EXPECT_EQ(body[2].branches[2].condition, nullptr);
  EXPECT_EQ(body[3].targets, (std::vector<std::string>{"x", "y"}));
  EXPECT_NE(body[3].filter, nullptr);
  EXPECT_EQ(body[3].otherwise[0].text, "i");
  EXPECT_EQ(body[4].targets[0], "n.m");
}

TEST(JinjaParser, UnbalancedBlocksAreRefused) {
  EXPECT_THAT(error_of("\n{% if a %}b"),
              HasSubstr("line 2: this block is not closed with {% endif %}"));
  EXPECT_THAT(error_of("{% for a in b %}"), HasSubstr("{% endfor %}"));
  EXPECT_THAT(error_of("a{% endif %}"), HasSubstr("\"endif\" closes nothing"));
  EXPECT_THAT(error_of("{% if a %}{% endfor %}"), HasSubstr("{% endif %}"));
  EXPECT_THAT(error_of("{% if %}{% endif %}"), HasSubstr("expected a value"));
  EXPECT_THAT(error_of("{% break %}"), HasSubstr("break outside of a loop"));
  EXPECT_THAT(error_of("{% 3 %}"), HasSubstr("expected the name of a tag, found \"3\""));
  EXPECT_THAT(error_of("{% for a b %}{% endfor %}"), HasSubstr("expected \"in\", found \"b\""));
  EXPECT_THAT(error_of("{{ a b }}"), HasSubstr("expected \"}}\", found \"b\""));
}

TEST(JinjaParser, OtherTagsAreRefused) {
  for (const char* tag :
       {"macro", "include", "import", "extends", "block", "call", "raw", "with"}) {
    EXPECT_THAT(error_of(std::string("{% ") + tag + " x %}"), HasSubstr("is not supported")) << tag;
  }
  EXPECT_THAT(error_of("{% for a in b recursive %}{% endfor %}"), HasSubstr("recursive loops"));
}

TEST(JinjaParser, DepthIsBounded) {
  std::string nested;
  for (int i = 0; i < 60; ++i) nested += "{% if a %}";
  EXPECT_THAT(error_of(nested), HasSubstr("blocks are nested more than 50 deep"));
}

}  // namespace
}  // namespace heed::jinja::parser_test
