// Scopes, errors with their lines, and limits; the golden templates test the rest.
#include "heed/text/jinja/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/jinja/parser.h"
#include "tests/support/error_message.h"

namespace heed::jinja::interpreter_test {
namespace {

using testing::HasSubstr;

std::string run(const std::string& source, const RenderOptions& options = {}) {
  return render(parse(source, "t"), {}, "t", options);
}
std::string error_of(const std::string& source, const RenderOptions& options = {}) {
  return error_message([&] { run(source, options); });
}

TEST(JinjaInterpreter, Scopes) {
  EXPECT_EQ(run("{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}"), "2");
  EXPECT_EQ(
      run("{% set n = namespace(x=1) %}{% for i in [1,2] %}{% set n.x = n.x + i %}{% endfor %}"
          "{{ n.x }}"),
      "4");
  EXPECT_EQ(run("{% for x in 'ab' %}{{ loop.previtem }}{{ x }}{{ loop.nextitem }} {% endfor %}"),
            "ab ab ");
}

TEST(JinjaInterpreter, ErrorsHaveTheirLine) {
  EXPECT_EQ(error_of("\n{{ raise_exception('no ' ~ 'way') }}"),
            "[chat template] t, line 2: no way");
  EXPECT_EQ(error_of("\n\n{{ x.y }}"), "[chat template] t, line 3: \"x\" is undefined");
  EXPECT_EQ(run("{{ x }}{{ {}.y }}"), "") << "undefined prints as nothing";
  EXPECT_THAT(error_of("{{ 'a' + 1 }}"), HasSubstr("a string + an integer: the types do not fit"));
  EXPECT_THAT(error_of("{{ 'a' + x }}"), HasSubstr("\"x\" is undefined"));
  EXPECT_THAT(error_of("{{ 1 // 0 }}"), HasSubstr("division by 0"));
  EXPECT_THAT(error_of("{{ 999999999999999999 * 999999999999999999 }}"), HasSubstr("overflows"));
  EXPECT_THAT(error_of("{{ 'a' < 1 }}"), HasSubstr("the types do not fit"));
  EXPECT_THAT(error_of("{{ f() }}"), HasSubstr("the function \"f\" is not supported"));
  EXPECT_THAT(error_of("{{ 'a' | nope }}"), HasSubstr("line 1: the filter \"nope\""));
  EXPECT_THAT(error_of("{% for a, b in [[1]] %}{% endfor %}"), HasSubstr("1 values for 2 names"));
  EXPECT_THAT(error_of("{% set x = {} %}{% set x.y = 1 %}"), HasSubstr("on a namespace only"));
  EXPECT_THAT(error_of("{% for a in 3 %}{% endfor %}"), HasSubstr("an integer is no list"));
  EXPECT_THAT(error_of("{% set n = namespace() %}{% set n.n = n %}"),
              HasSubstr("a namespace cannot hold a namespace"));
}

TEST(JinjaInterpreter, StepsAndOutputAreBounded) {
  EXPECT_THAT(
      error_of("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"),
      HasSubstr("more than 2000000 steps"));
  EXPECT_THAT(error_of("{% set n = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(99) %}"
                       "{% set n.x = n.x + n.x %}{% endfor %}"),
              HasSubstr("more than 2000000 steps"));
  EXPECT_THAT(error_of("{% for i in range(99) %}aaaaaaaaaa{% endfor %}", {.max_output = 100}),
              HasSubstr("the output is longer than 100 bytes"));
  EXPECT_THAT(error_of("{{ range(100001) }}"), HasSubstr("range needs integers up to 100000"));
}

TEST(JinjaInterpreter, TheDateMustBeGiven) {
  EXPECT_THAT(error_of("{{ strftime_now('%Y') }}"), HasSubstr("strftime_now needs a date"));
  EXPECT_EQ(run("{{ strftime_now('%Y') }}",
                {.strftime_now = [](const std::string& format) { return "<" + format + ">"; }}),
            "<%Y>");
}

}  // namespace
}  // namespace heed::jinja::interpreter_test
