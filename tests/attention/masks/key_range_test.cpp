#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "tests/attention/mask_case.h"

namespace heed::key_range_test {
namespace {

constexpr kernels::AttentionShape kShape{
    .B = 1, .H = 1, .G = 1, .Tq = 9, .Tk = 20, .D = 1, .Dv = 1};

TEST(KeyRange, EveryQueryAttendsToIt) {
  for (const auto& [first, last] :
       {std::pair{0, 20}, {3, 7}, {12, 99}, {-5, 2}, {7, 7}, {30, 40}}) {
    const auto sees = [=](auto, auto, auto, auto j) { return j >= first && j < last; };
    test::check_mask({key_range(first, last), sees}, kShape);
    EXPECT_TRUE(test::is_exact(key_range(first, last), kShape));
  }
}

}  // namespace
}  // namespace heed::key_range_test
