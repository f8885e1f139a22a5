// Checks throw what they promise, with the message they were given, and cost nothing otherwise.
#include "heed/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace heed {
namespace {

TEST(ErrorTest, CheckThrowsItsFormattedMessage) {
  try {
    HEED_CHECK(1 + 1 == 3, "[op] got {} and {}: use {:.1f}", 1, "two", 3.0);
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "[op] got 1 and two: use 3.0");
  }
}

TEST(ErrorTest, CheckThatHoldsDoesNotEvaluateItsArguments) {
  int evaluated = 0;
  HEED_CHECK(true, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(ErrorTest, AssertNamesConditionAndPlace) {
  const int x = 1;
  try {
    HEED_ASSERT(x == 2);
    FAIL() << "nothing was thrown";
  } catch (const InternalError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("x == 2"), std::string::npos) << message;
    EXPECT_NE(message.find("error_test.cpp:"), std::string::npos) << message;
  }
  EXPECT_NO_THROW(HEED_ASSERT(x == 1));
}

TEST(ErrorTest, ChecksAreStatements) {
  // A dangling else would bind to the check's own if.
  bool reached = false;
  if (false)
    HEED_CHECK(true, "unused");
  else
    reached = true;
  EXPECT_TRUE(reached);
}

TEST(ErrorTest, MistakesOfUsersAndOursAreDifferentTypes) {
  EXPECT_FALSE((std::is_base_of_v<Error, InternalError>));
  EXPECT_FALSE((std::is_base_of_v<InternalError, Error>));
  EXPECT_TRUE((std::is_base_of_v<std::exception, Error>));
}

}  // namespace
}  // namespace heed
