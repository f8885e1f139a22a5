#include "heed/io/base64.h"

#include <gtest/gtest.h>

namespace heed::io {
namespace {

// The test vectors of RFC 4648.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace heed::io
