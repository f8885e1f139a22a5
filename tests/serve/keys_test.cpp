#include "heed/serve/keys.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

// FIPS 180-2: the hash of "abc".
constexpr std::string_view kAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Keys, FindsTheClientOfAKey) {
  const Keys keys(
      "# clients\nalice " + std::string(kAbc) + " 600\n\nbob\t" + std::string(64, '0') + "\r\n",
      "keys");
  EXPECT_EQ(keys.size(), 2u);
  ASSERT_NE(keys.find("abc"), nullptr);
  EXPECT_EQ(keys.find("abc")->name, "alice");
  EXPECT_EQ(keys.find("abc")->per_minute, 600);
  for (const std::string_view wrong : {"", "ab", "abcd", "ABC"}) {
    EXPECT_EQ(keys.find(wrong), nullptr) << wrong;
  }
}

TEST(Keys, NewKeysWork) {
  const NewKey made = make_key("carol"), other = make_key("dave");
  const Keys keys(made.line + "\n" + other.line, "keys");
  ASSERT_NE(keys.find(made.key), nullptr);
  EXPECT_EQ(keys.find(made.key)->name, "carol");
  EXPECT_EQ(keys.find(other.key)->name, "dave");
  EXPECT_EQ(made.line.find(made.key.substr(3)), std::string::npos);
}

TEST(Keys, SayWhatIsWrongWithALine) {
  const std::string good = "alice " + std::string(kAbc);
  for (const std::string& bad :
       {std::string("alice"), std::string("alice abc"), good + " x", good + " 0", good + " nan",
        good + " 1 2", good + "\n" + good, "a " + std::string(64, 'g')}) {
    EXPECT_THROW(Keys(bad, "keys"), Error) << bad;
  }
  EXPECT_THROW(make_key("two words"), Error);
  EXPECT_THROW(make_key(""), Error);
  EXPECT_THROW(load_keys("/nowhere/keys"), Error);
}

}  // namespace
}  // namespace heed::serve
