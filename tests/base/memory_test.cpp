#include "heed/base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(Memory, WhatIsAvailableIsPlausible) {
  const auto available = available_memory();
  if (!available) GTEST_SKIP() << "the system does not tell";
  EXPECT_GT(*available, std::int64_t{1} << 20);
  EXPECT_LT(*available, std::int64_t{1} << 50);
}

TEST(Memory, TooMuchIsNamed) {
  check_memory(1, "test", "a byte", "nothing");
  if (!available_memory()) GTEST_SKIP() << "the system does not tell";
  const std::string message =
      error_message([] { check_memory(std::int64_t{1} << 60, "test", "a cache", "take less"); });
  EXPECT_THAT(message, HasSubstr("[test] a cache would take 1152921504.6 GB, and "));
  EXPECT_THAT(message, HasSubstr(" GB of memory are available: take less"));
}

}  // namespace
}  // namespace heed
