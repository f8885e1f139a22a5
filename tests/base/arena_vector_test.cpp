// A vector in the arena: its memory comes from there and returns there.
#include "heed/base/arena_vector.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heed {
namespace {

TEST(ArenaVector, TakesFromAndGivesToTheArena) {
  const std::size_t before = arena::stats().bytes_live;
  {
    ArenaVector<int> numbers(1000);
    EXPECT_GE(arena::stats().bytes_live, before + 1000 * sizeof(int));
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers.push_back(7);  // grows: a second block, then the first one returns
    EXPECT_EQ(numbers[999], 999);
    const ArenaVector<int> copy = numbers;
    EXPECT_EQ(copy, numbers);
  }
  EXPECT_EQ(arena::stats().bytes_live, before);
}

}  // namespace
}  // namespace heed
