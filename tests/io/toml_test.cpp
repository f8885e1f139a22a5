// Reading TOML: the tree with its lines, and what is refused.
#include "heed/io/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::io::toml_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const Value& at(const Value& table, std::string_view key) { return *find(*table.table(), key); }

std::string error_of(std::string_view text) {
  return error_message([&] { parse_toml(text, "a.toml"); });
}

TEST(Toml, ReadsEveryKind) {
  const Value v = parse_toml(R"(
t = true
i = -42
x = 0.5
s = "a\n层"
l = [1, [2.5], "x"]
o = { k = 1 }
[section.inner]
k = 2
)",
                             "");
  EXPECT_TRUE(*at(v, "t").boolean());
  EXPECT_EQ(*at(v, "i").integer(), -42);
  EXPECT_EQ(*at(v, "x").floating(), 0.5);
  EXPECT_EQ(*at(v, "s").string(), "a\n层");
  EXPECT_EQ(*(*at(v, "l").list())[0].integer(), 1);
  EXPECT_EQ(*at(at(v, "o"), "k").integer(), 1);
  EXPECT_EQ(*at(at(at(v, "section"), "inner"), "k").integer(), 2);
}

TEST(Toml, KnowsWhereValuesStand) {
  const Value v = parse_toml("a = 1\n  b = [\n  1,\n  2]\n[s]\nx.y = 3\n", "");
  const auto expect_place = [](const Value& value, std::uint32_t line, std::uint32_t column) {
    EXPECT_EQ(value.position.line, line);
    EXPECT_EQ(value.position.column, column);
  };
  expect_place(at(v, "a"), 1, 1);
  expect_place(at(v, "b"), 2, 3);
  expect_place((*at(v, "b").list())[1], 4, 3);
  expect_place(at(v, "s"), 5, 2);
  expect_place(at(at(v, "s"), "x"), 6, 1);
  expect_place(at(at(at(v, "s"), "x"), "y"), 6, 3);
}

TEST(Toml, RefusesWhatIsNotToml) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"a = 1\nb = ", "a.toml:2:"},
      {"a = 1\na = 2", "a.toml:2:"},
      {"[s]\n[s]", "a.toml:2:"},
      {"a = \"\xff\"", "a.toml:1:"},
      {"a = 99999999999999999999", "a.toml:1:"},
      {"a = [1, 2\n", "a.toml:1:11"},
      {"= 1", "a.toml:1:1"},
  };
  for (const auto& [text, place] : cases) {
    EXPECT_THAT(error_of(text), StartsWith(fmt::format("[toml] {}", place))) << text;
  }
  EXPECT_THAT(error_of("x = 1\na = 2024-01-01"),
              AllOf(StartsWith("[toml] a.toml:2:9: "), HasSubstr("date")));
}

TEST(Toml, TextOfValues) {
  EXPECT_EQ(toml_text({}), "\"none\"");
  EXPECT_EQ(toml_text({true}), "true");
  EXPECT_EQ(toml_text({std::int64_t{3}}), "3");
  EXPECT_EQ(toml_text({3.0}), "3.0");
  EXPECT_EQ(toml_text({Value::List{}}), "[]");
  EXPECT_EQ(toml_text({Value::List{{std::string("a\"")}, {Value::List{{false}}}}}),
            "[\"a\\\"\", [false]]");
}

TEST(Toml, TextReadsBackExactly) {
  std::string every = "层\x7f\"\\'";
  for (char c = 0; c < 32; ++c) every += c;
  const Value value{Value::List{{every}, {0.1}, {1e22}, {5e-324}}};
  const Value back = parse_toml("v = " + toml_text(value), "");
  const Value::List& list = *at(back, "v").list();
  EXPECT_EQ(*list[0].string(), every);
  EXPECT_EQ(*list[1].floating(), 0.1);
  EXPECT_EQ(*list[2].floating(), 1e22);
  EXPECT_EQ(*list[3].floating(), 5e-324);
}

}  // namespace
}  // namespace heed::io::toml_test
