// What toml++ must not see never reaches it, and what is TOML does.
#include "heed/io/toml_precheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "heed/io/toml.h"
#include "tests/support/error_message.h"

namespace heed::io::toml_precheck_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  return error_message([&] { parse_toml(text, "a.toml"); });
}

// before, then a piece many times, then after
std::string around(std::string_view before, std::string_view piece, int times,
                   std::string_view after) {
  std::string all(before);
  for (int i = 0; i < times; ++i) all += piece;
  return all.append(after);
}

// toml++ itself dies of the dotted ones.
TEST(TomlPrecheck, DepthIsLimited) {
  for (const int depth : {kMaxDepth + 1, 1000, 1'000'000}) {
    for (const std::string& text : {
             around("a = ", "[", depth, ""),
             around(around("a = ", "[", depth, ""), "]", depth, ""),
             around("a = ", "{a=", depth, ""),
             around("[", "a.", depth, "a]"),
             around("[[", "a.", depth, "a]]"),
             around("", "a.", depth, "a = 1"),
             around("", "\"a\".", depth, "a = 1"),
             around("", "a . ", depth, "a = 1"),
             around("s = '''\n''' # '\n", "a.", depth, "a = 1"),
             around("s = \"\\\\\"\n", "a.", depth, "a = 1"),
             around("s = \"\"\"\\\n\"\"\"\"\n", "a.", depth, "a = 1"),
         }) {
      EXPECT_THAT(error_of(text), HasSubstr("nested deeper than 64")) << text.substr(0, 40);
    }
  }
  // Each key and bracket is within bounds, the whole is not.
  EXPECT_THAT(error_of(around(around("", "a.a.a.a.a.a.a.a={", 60, "a=1"), "}", 60, "")),
              HasSubstr("nested deeper than 64"));
}

TEST(TomlPrecheck, DotsAndBracketsThatNestNothingAreFree) {
  for (const std::string& text : {
           around("s = \"", ".[{:", 1000, "\""),
           around("s = '", ".[{", 1000, "'"),
           around("s = '''", ".[{\n", 1000, "'''"),
           around("s = \"\"\"", ".[{\\\"\n", 1000, "\"\"\""),
           around("# ", ".[{", 1000, ""),
           around("l = [", "0.5, ", 1000, "]"),
           around("l = [", "[1], ", 1000, "]"),
           around("", "[[a.b]]\nx = 1.5\n", 1000, ""),
           around(around("a = ", "[", kMaxDepth - 1, ""), "]", kMaxDepth - 1, ""),
       }) {
    EXPECT_EQ(error_of(text), "(no error)") << text.substr(0, 40);
  }
}

TEST(TomlPrecheck, RefusesWhatTomlPlusPlusTakesForGranted) {
  const std::pair<std::string, const char*> cases[] = {
      {"# a: b\na: 1", "a.toml:2:2: a ':' outside a string: write key = value"},
      {"a = 2024-01-01T\x07", "a.toml:1:9: a date: write it in quotes"},
      {"a = [1, 2024-01-01 1", "a.toml:1:13: a date: write it in quotes"},
      {"a = \x07", "a.toml:1:5: \"\\x07\" outside a string"},
      {"a = 12:00:00", "a.toml:1:7: a ':' outside"},
      {std::string("[\0a]", 4), "a.toml:1:1: the name of a table must follow"},
      {"\n [[ =a]]", "a.toml:2:2: the name of a table must follow"},
      {"[\na]", "a.toml:1:1: the name of a table must follow"},
      {"a = [}", "a.toml:1:6: a closing bracket without an opening one"},
      {"a = ]", "a.toml:1:5: a closing bracket without an opening one"},
      {"a = {b = 1]", "a.toml:1:11: a closing bracket without an opening one"},
      {"a = 1\"é\"", "a.toml:1:6: a string or bracket right after something else"},
      {"a = \"x\"'é'", "a.toml:1:8: a string or bracket right after something else"},
      {"a = \"\"\"x \\é\"\"\"", "a.toml:1:11: a backslash must not be followed"},
      {"a = \"\"\"\nx \\ \n\n é\"\"\"", "a.toml:2:4: a backslash must not be followed"},
      {"a = 1.'é'", "a.toml:1:7: a string or bracket right after something else"},
      {"a = 1['é']", "a.toml:1:6: a string or bracket right after something else"},
      {"a = 1={'é'", "a.toml:1:6: a '=' inside a value"},
      {"a = [1={'é'", "a.toml:1:7: a '=' inside a value"},
      {"a = [1\n={'é'", "a.toml:2:1: a '=' inside a value"},
      {"a = {b = 1={'é'", "a.toml:1:11: a '=' inside a value"},
      {"a = []={'é'", "a.toml:1:7: a '=' inside a value"},
      {"层 = 1", "a.toml:1:1: \"\\xe5\" outside a string"},
      {"s = \"a\\\\\" !", "a.toml:1:11: \"!\" outside a string"},
      {"s = '''\n\n''' !", "a.toml:3:5: \"!\" outside a string"},
      {"s = \"\"\"a\\\n\"\"\" !", "a.toml:2:5: \"!\" outside a string"},
  };
  for (const auto& [text, message] : cases) {
    const std::string_view view = text;
    const std::string whole = error_message([&] { precheck_toml(view, "a.toml"); });
    EXPECT_THAT(whole, StartsWith(fmt::format("[toml] {}", message))) << text;
  }
}

TEST(TomlPrecheck, LetsTomlPass) {
  for (const std::string_view text : {
           "",
           "\xef\xbb\xbf[a]\nb = 1",
           "[a.'b'.\"c\"]\n'd'.\"e\"={'f'.g='h',\"i\"=[['j'],{}]}",
           "[ a . 'b' ] # c: d\r\n[[\"c\"]]",
           "a = [\n  [1, 2], # ]}\n  {x = 'it', \"y\" = +1e-3},\n]",
           "2024-01-01 = 0x_1\na-1-b = -1e-5",
           "a=-1",
           "s = \"\"\"\"quoted\"\"\"\"\nt = ''''quoted''''",
           "s = \"\\\"\" # :",
           "a = 'C:\\dir'\nb = \"12:00\"",
           "[",
           "s = \"unclosed\nt = 1",
           "s = \"\"\"é \\\\ é \\\n  e\"\"\"",
           "s = '''\\é'''\n\"é\" = 1",
       }) {
    EXPECT_EQ(error_message([&] { precheck_toml(text, "a.toml"); }), "(no error)") << text;
  }
}

}  // namespace
}  // namespace heed::io::toml_precheck_test
