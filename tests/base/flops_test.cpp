#include "heed/base/flops.h"

#include <gtest/gtest.h>

#include <thread>

namespace heed {
namespace {

TEST(Flops, CountOnlyWhileACounterLives) {
  add_flops(7);
  EXPECT_FALSE(counting_flops());
  {
    const FlopCounter counter;
    EXPECT_TRUE(counting_flops());
    EXPECT_EQ(counter.count(), 0);
    add_flops(3);
    add_flops(std::int64_t{1} << 40);
    EXPECT_EQ(counter.count(), (std::int64_t{1} << 40) + 3);
  }
  EXPECT_FALSE(counting_flops());
}

TEST(Flops, AnInnerCounterCountsForTheOuterToo) {
  const FlopCounter outer;
  add_flops(1);
  {
    const FlopCounter inner;
    add_flops(10);
    EXPECT_EQ(inner.count(), 10);
  }
  add_flops(100);
  EXPECT_EQ(outer.count(), 111);
}

TEST(Flops, OtherThreadsAreNotCounted) {
  const FlopCounter counter;
  std::thread([] { add_flops(5); }).join();
  EXPECT_EQ(counter.count(), 0);
}

}  // namespace
}  // namespace heed
