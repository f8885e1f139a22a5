#include "heed/base/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace heed {
namespace {

TEST(Version, IsThreeNumbers) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex(R"(\d+\.\d+\.\d+)")))
      << version();
}

}  // namespace
}  // namespace heed
