// Every type of field: reading, writing, flag text, and the message when the value is wrong.
#include "heed/io/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::io {

enum class Fruit { apple = 3, pear = 7, fig = 9 };
constexpr std::array<EnumName<Fruit>, 2> enum_names(Fruit) {
  return {{{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};  // fig has no name
}

namespace {

using detail::Codec;
using testing::ElementsAre;
using testing::HasSubstr;

Value json(std::string_view text) { return parse_json(text, "a.json"); }

FieldContext context(Limits limits = {}) { return {"a.json", "key", limits}; }

template <typename T>
T read(std::string_view text, Limits limits = {}) {
  return Codec<T>::read(json(text), context(limits));
}

template <typename T>
std::string read_error(std::string_view text, Limits limits = {}) {
  return error_message([&] { read<T>(text, limits); });
}

template <typename T>
T from_flag(std::string_view text) {
  return Codec<T>::read(Codec<T>::parse(text), {"key=" + std::string(text), "key", {}});
}

template <typename T>
T round_trip(const T& member) {
  return read<T>(write_json(Codec<T>::write(member), false));
}

// A value that configs write as a text: "12 apples".
class Amount {
 public:
  explicit Amount(std::string_view text) : text_(text) {
    HEED_CHECK(text.find(' ') != text.npos, "[amount] \"{}\": give a number and a thing", text);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(Codec, Texts) {
  EXPECT_EQ(read<Amount>("\"12 apples\"").text(), "12 apples");
  EXPECT_EQ(from_flag<Amount>("3 figs").text(), "3 figs");
  EXPECT_EQ(round_trip(Amount("0 pears")).text(), "0 pears");
  EXPECT_EQ(Codec<Amount>::type_name(), "string");
  EXPECT_EQ(read_error<Amount>("\"many\""),
            "[config] a.json:1:1: [amount] \"many\": give a number and a thing");
  EXPECT_EQ(read_error<Amount>("12"),
            "[config] a.json:1:1: key must be a string, found the integer 12");
}

TEST(Codec, OptionalTexts) {
  EXPECT_FALSE(read<std::optional<Amount>>("null"));
  EXPECT_FALSE(from_flag<std::optional<Amount>>("none"));
  EXPECT_EQ(read<std::optional<Amount>>("\"12 apples\"")->text(), "12 apples");
  EXPECT_EQ(round_trip(std::optional(Amount("0 pears")))->text(), "0 pears");
}

TEST(Codec, Bool) {
  EXPECT_TRUE(read<bool>("true"));
  EXPECT_FALSE(from_flag<bool>("false"));
  EXPECT_EQ(read_error<bool>("1"),
            "[config] a.json:1:1: key must be true or false, found the integer 1");
  EXPECT_EQ(error_message([] { from_flag<bool>("yes"); }),
            "[config] key=yes: key must be true or false, found the string \"yes\"");
}

TEST(Codec, IntegersHaveTheRangeOfTheirType) {
  EXPECT_EQ(read<int>("-5"), -5);
  EXPECT_EQ(read<std::uint8_t>("255"), 255);
  EXPECT_EQ(read_error<std::uint8_t>("256"),
            "[config] a.json:1:1: key is 256: it must be from 0 to 255");
  EXPECT_THAT(read_error<std::uint8_t>("-1"), HasSubstr("from 0 to 255"));
  EXPECT_THAT(read_error<std::int8_t>("-129"), HasSubstr("from -128 to 127"));
  EXPECT_THAT(read_error<int>("2147483648"), HasSubstr("from -2147483648 to 2147483647"));
  EXPECT_EQ(read<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read<std::uint64_t>("9223372036854775807"), 0x7fffffffffffffffu);
  EXPECT_THAT(read_error<std::uint64_t>("9223372036854775808"), HasSubstr("at most 64 bits"));
  EXPECT_EQ(from_flag<int>("12"), 12);
}

TEST(Codec, IntegersAreNotFloats) {
  EXPECT_THAT(read_error<int>("1e6"), HasSubstr("without point or exponent"));
  EXPECT_THAT(read_error<int>("1.5"), HasSubstr("must be an integer, found the float 1.5"));
  EXPECT_THAT(read_error<int>("\"1\""), HasSubstr("must be an integer, found the string"));
  EXPECT_THAT(read_error<int>("true"), HasSubstr("must be an integer, found true"));
  EXPECT_THAT(error_message([] { from_flag<int>("12x"); }), HasSubstr("found the string \"12x\""));
  EXPECT_THAT(error_message([] { from_flag<int>(""); }), HasSubstr("found the string \"\""));
}

TEST(Codec, LimitsAreInclusive) {
  EXPECT_EQ(read<int>("1", {.min = 1, .max = 3}), 1);
  EXPECT_EQ(read<int>("3", {.min = 1, .max = 3}), 3);
  EXPECT_THAT(read_error<int>("0", {.min = 1, .max = 3}),
              HasSubstr("is 0: it must be from 1 to 3"));
  EXPECT_THAT(read_error<int>("0", {.min = 1}), HasSubstr("it must be at least 1"));
  EXPECT_THAT(read_error<double>("1.5", {.max = 1}), HasSubstr("is 1.5: it must be at most 1"));
  EXPECT_THAT(read_error<std::vector<int>>("[1, 0]", {.min = 1}), HasSubstr("key[1] is 0"));
}

TEST(Codec, Floats) {
  EXPECT_EQ(read<double>("0.1"), 0.1);
  EXPECT_EQ(read<double>("3"), 3.0);
  EXPECT_EQ(read<float>("0.1"), 0.1f);
  EXPECT_EQ(from_flag<double>("1e-3"), 1e-3);
  EXPECT_THAT(read_error<float>("1e39"), HasSubstr("beyond the range of a float"));
  EXPECT_THAT(read_error<double>("\"x\""), HasSubstr("must be a number, found the string \"x\""));
  EXPECT_THAT(error_message([] { from_flag<double>("nan"); }),
              HasSubstr("is nan: it must be finite"));
  EXPECT_THAT(error_message([] { from_flag<float>("inf"); }),
              HasSubstr("is inf: it must be finite"));
}

TEST(Codec, FloatsAreWrittenShortAndReadBackExactly) {
  EXPECT_EQ(write_json(Codec<float>::write(0.1f), false), "0.1");
  float number = 1e-45f;
  for (int i = 0; i < 3000; ++i, number *= 1.0637f) {
    if (!std::isfinite(number)) break;
    EXPECT_EQ(round_trip(number), number);
    EXPECT_EQ(round_trip(-static_cast<double>(number) / 3), -static_cast<double>(number) / 3);
  }
  EXPECT_THAT(error_message([] { Codec<float>::write(INFINITY); }), HasSubstr("finite"));
  EXPECT_THAT(error_message([] { Codec<double>::write(NAN); }), HasSubstr("finite"));
}

TEST(Codec, Strings) {
  EXPECT_EQ(read<std::string>("\"层\""), "层");
  EXPECT_EQ(from_flag<std::string>("a=b, \"c\""), "a=b, \"c\"") << "taken as it is";
  EXPECT_THAT(read_error<std::string>("3"), HasSubstr("must be a string, found the integer 3"));
}

TEST(Codec, Enums) {
  EXPECT_EQ(read<Fruit>("\"pear\""), Fruit::pear);
  EXPECT_EQ(round_trip(Fruit::apple), Fruit::apple);
  EXPECT_EQ(from_flag<Fruit>("apple"), Fruit::apple);
  EXPECT_EQ(Codec<Fruit>::type_name(), "apple|pear");
  EXPECT_EQ(read_error<Fruit>("\"paer\""),
            "[config] a.json:1:1: key is \"paer\": it must be one of apple, pear; did you mean "
            "pear?");
  EXPECT_THAT(read_error<Fruit>("\"qqqqqqqqq\""), HasSubstr("it must be one of apple, pear"));
  EXPECT_THAT(read_error<Fruit>("1"), HasSubstr("must be one of apple, pear, found the integer 1"));
  EXPECT_THAT(error_message([] { Codec<Fruit>::write(Fruit::fig); }), HasSubstr("has no name"));
}

TEST(Codec, Lists) {
  using Ints = std::vector<int>;
  EXPECT_THAT(read<Ints>("[1, 2]"), ElementsAre(1, 2));
  EXPECT_TRUE(read<Ints>("[]").empty());
  EXPECT_THAT(from_flag<Ints>("1, 2,3"), ElementsAre(1, 2, 3));
  EXPECT_THAT(from_flag<Ints>("[1, 2,]"), ElementsAre(1, 2));
  EXPECT_TRUE(from_flag<Ints>("").empty());
  EXPECT_THAT(from_flag<std::vector<std::string>>("a.en,b.zh"), ElementsAre("a.en", "b.zh"));
  EXPECT_THAT(from_flag<std::vector<std::string>>("[\"a,b\"]"), ElementsAre("a,b"));
  EXPECT_THAT(from_flag<std::vector<Fruit>>("pear,apple"), ElementsAre(Fruit::pear, Fruit::apple));
  EXPECT_THAT(round_trip(std::vector<bool>{true, false}), ElementsAre(true, false));
  EXPECT_THAT(read_error<Ints>("3"), HasSubstr("must be a list, found the integer 3"));
  EXPECT_THAT(read_error<Ints>("[1,\n\"x\"]"), HasSubstr("a.json:2:1: key[1] must be an integer"));
  EXPECT_THAT(error_message([] { from_flag<Ints>("1,,2"); }),
              HasSubstr("key[1] must be an integer"));
  EXPECT_THAT(error_message([] { from_flag<Ints>("[1"); }), HasSubstr("[1"));
  EXPECT_THAT(error_message([] { from_flag<Ints>("[1]\nother = 3"); }), HasSubstr("more than one"));
}

TEST(Codec, Optionals) {
  using Maybe = std::optional<int>;
  EXPECT_EQ(read<Maybe>("3"), 3);
  EXPECT_EQ(read<Maybe>("null"), std::nullopt);
  EXPECT_EQ(read<Maybe>("\"none\""), std::nullopt);
  EXPECT_EQ(from_flag<Maybe>("none"), std::nullopt);
  EXPECT_EQ(from_flag<Maybe>("3"), 3);
  EXPECT_EQ(round_trip(Maybe(4)), 4);
  EXPECT_EQ(round_trip(Maybe()), std::nullopt);
  EXPECT_EQ(Codec<Maybe>::type_name(), "integer or none");
  EXPECT_THAT(read_error<Maybe>("\"x\""), HasSubstr("must be an integer"));
  EXPECT_THAT(error_message([] { Codec<std::optional<std::string>>::write("none"); }),
              HasSubstr("it means unset"));
}

TEST(Codec, IntegersBeyondTheFormatAreNotWritten) {
  EXPECT_THAT(error_message([] { Codec<std::uint64_t>::write(1ull << 63); }),
              HasSubstr("9223372036854775808 cannot be written"));
}

}  // namespace
}  // namespace heed::io
