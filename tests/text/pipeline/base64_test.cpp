// Base64.
#include "heed/text/pipeline/base64.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::pipeline::base64_test {
namespace {

TEST(Base64, GoesBothWays) {
  for (const std::string_view bytes : {"", "f", "fo", "foo", "foob", "\xFF\x00\x80"}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), std::string(bytes));
  }
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, RefusesOtherTexts) {
  for (const std::string_view text : {"Zm8", "Z===", "Zm8!", "====", "Zm=8"}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace heed::pipeline::base64_test
