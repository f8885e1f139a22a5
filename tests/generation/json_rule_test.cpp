// JSON read byte by byte against a parser, and texts that tokens of a vocabulary make.
#include "heed/generation/json_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/io/json.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

TEST(JsonReader, ReadsObjects) {
  for (const std::string_view text : {
           R"({})",
           R"( { } )",
           R"({"a": 1})",
           R"({"a":[],"b":[1,-2.5,3e10,4E-2,5.0e+1,0,-0,0.25],"c":{"d":null}})",
           R"({"a": [true, false, null, "x", [[]], {}]})",
           R"({"\u00e9\"\\\/\b\f\n\r\t": "\uABCDé€"})",
           "{\n\t\"a\" :\r\n[ 1 , 2 ]}",
       }) {
    JsonReader reader;
    const std::string_view object = text.substr(0, text.rfind('}') + 1);
    for (std::size_t i = 0; i < object.size(); ++i) {
      ASSERT_FALSE(reader.is_complete()) << text << " at " << i;
      ASSERT_TRUE(reader.add(object[i])) << text << " at " << i;
    }
    EXPECT_TRUE(reader.is_complete()) << text;
    EXPECT_FALSE(reader.add(' ')) << "nothing follows";
    EXPECT_NO_THROW(io::parse_json(text, "text"));
  }
}

TEST(JsonReader, RefusesTheFirstByteThatIsWrong) {
  const std::pair<const char*, std::size_t> cases[] = {{"[1]", 0},
                                                       {"1", 0},
                                                       {"{1}", 1},
                                                       {R"({"a" 1})", 5},
                                                       {R"({"a",})", 4},
                                                       {R"({"a":1,})", 7},
                                                       {R"({"a":[1,]})", 8},
                                                       {R"({"a":01})", 6},
                                                       {R"({"a":-})", 6},
                                                       {R"({"a":1.})", 7},
                                                       {R"({"a":1e})", 7},
                                                       {R"({"a":1e+-})", 8},
                                                       {R"({"a":.5})", 5},
                                                       {R"({"a":tru})", 8},
                                                       {R"({"a":nul1})", 8},
                                                       {R"({"a":[1}})", 7},
                                                       {R"({"a":{]})", 6},
                                                       {"{\"a\nb\"}", 3},
                                                       {R"({"\x"})", 3},
                                                       {R"({"\u12g4"})", 6},
                                                       {R"({"a":1.5.2})", 8},
                                                       {R"({"a":1e5e})", 8},
                                                       {R"({"a":1 2})", 7},
                                                       {R"({,})", 1},
                                                       {R"({"a":+1})", 5}};
  for (const auto& [text, at] : cases) {
    JsonReader reader;
    EXPECT_TRUE(reader.add(std::string_view(text, at))) << text;
    EXPECT_FALSE(reader.add(text[at])) << text;
  }
}

TEST(JsonReader, HasLimits) {
  JsonReader deep;
  EXPECT_TRUE(deep.add("{\"a\":" + std::string(JsonReader::kMaxNesting - 1, '[')));
  EXPECT_FALSE(deep.add('['));
  JsonReader wide;
  EXPECT_TRUE(wide.add(std::string(JsonReader::kMaxSpaces, ' ')));
  EXPECT_FALSE(wide.add(' '));
}

// Any path that the reader allows is JSON as far as it goes, so a parser accepts it at its end.
TEST(JsonReader, WhatItAllowsIsJson) {
  constexpr std::string_view kBytes = "{}[]\"\\:,-+.0159eEtrufalsn \n";
  int complete = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const RandomStream random{seed, 5};
    JsonReader reader;
    std::string text;
    for (std::uint64_t at = 0; at < 4000 && !reader.is_complete() && text.size() < 60; ++at) {
      const char byte = kBytes[random.below(at, kBytes.size())];
      JsonReader next = reader;
      if (!next.add(byte)) continue;
      reader = next;
      text += byte;
    }
    if (!reader.is_complete()) continue;
    ++complete;
    const std::string message = error_message([&] { io::parse_json(text, "text"); });
    // Keys that come twice and numbers without a double are JSON, but not in files that heed reads.
    EXPECT_THAT(message,
                AnyOf("(no error)", HasSubstr("appears twice"), HasSubstr("number overflow")))
        << text;
  }
  EXPECT_GT(complete, 500);
}

TEST(JsonRule, LeavesTokensThatContinueAnObject) {
  const auto tokenizer = test::letters("{}[]\":,ab1 ");
  const JsonRule json = require_json(*tokenizer, tokenizer->encode("ab"));
  const auto allowed = [&](std::string_view text) {
    Tokens banned;
    json.rule(tokenizer->encode(text), banned);
    std::string left;
    for (std::int32_t token = 0; token < tokenizer->size(); ++token) {
      if (std::ranges::count(banned, token) == 0) left += tokenizer->decode(Tokens{token});
    }
    std::ranges::sort(left);
    return left;
  };
  EXPECT_EQ(allowed(""), " {");
  EXPECT_EQ(allowed("{"), " \"}");
  EXPECT_EQ(allowed("{\"a\""), " :");
  EXPECT_EQ(allowed("{\"a\":1"), " ,1}");
  EXPECT_EQ(allowed("{\"a\":["), " \"1[]{");
  EXPECT_FALSE(json.stop(tokenizer->encode("{\"a\":1")));
  EXPECT_TRUE(json.stop(tokenizer->encode("{\"a\":1}")));
}

TEST(JsonRule, NeedsItsBrackets) {
  const auto tokenizer = test::letters("{\":ab");
  EXPECT_THAT(error_message([&] { require_json(*tokenizer, {}); }),
              HasSubstr("no token }: the model cannot write JSON"));
}

}  // namespace
}  // namespace heed
