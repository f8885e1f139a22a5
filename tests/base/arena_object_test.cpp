#include "heed/base/arena_object.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace heed {
namespace {

struct Base : ArenaObject {
  virtual ~Base() = default;
};
struct Large : Base {
  std::array<double, 1000> data{};
};

TEST(ArenaObject, LivesInTheArenaUntilDeletedThroughItsBase) {
  const std::size_t before = arena::stats().bytes_live;
  {
    const std::unique_ptr<Base> large = std::make_unique<Large>();
    EXPECT_GE(arena::stats().bytes_live - before, sizeof(Large));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.get()) % arena::kAlignment, 0u);
  }
  EXPECT_EQ(arena::stats().bytes_live, before);
}

}  // namespace
}  // namespace heed
