#include "heed/tensor/memory_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(MemoryLimit, StopsWhatIsBeyond) {
  const MemoryLimit limit(1 << 20, "too much");
  EXPECT_EQ(error_message([] { zeros({200'000}); }), "(no error)");
  EXPECT_EQ(error_message([] { zeros({100'000}); }), "too much") << "freed memory counts";
  EXPECT_EQ(error_message([] { empty({1ll << 40}); }), "too much") << "before it is taken";
  EXPECT_EQ(error_message([] { zeros({10}); }), "(no error)");
}

TEST(MemoryLimit, ManySmallTensorsCountToo) {
  const MemoryLimit limit(1 << 20, "too many");
  EXPECT_EQ(error_message([] {
              for (int i = 0; i < 1000; ++i) zeros({1});
            }),
            "too many");
}

TEST(MemoryLimit, IsOfItsThreadAndItsScope) {
  {
    const MemoryLimit outer(1 << 20, "outer");
    {
      const MemoryLimit inner(0, "inner");
      EXPECT_EQ(error_message([] { zeros({1}); }), "inner");
      std::thread([] { zeros({1}); }).join();
    }
    zeros({1});
  }
  zeros({1 << 20});
}

}  // namespace
}  // namespace heed
