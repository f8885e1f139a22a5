// The bytes of tensors: alignment, sharing, borrowing, and their return to the arena.
#include "heed/tensor/storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(Storage, IsAlignedAndWritableToTheLastByte) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4097, 5'000'000}) {
    const Ref<Storage> storage = Storage::allocate(bytes);
    EXPECT_EQ(storage->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(storage->data()) % arena::kAlignment, 0u);
    EXPECT_FALSE(storage->read_only());
    std::memset(storage->data(), 0x5a, bytes);
  }
}

TEST(Storage, ReturnsToTheArenaWithItsLastHandle) {
  const std::size_t before = arena::stats().bytes_live;
  Ref<Storage> first = Storage::allocate(1000);
  EXPECT_GT(arena::stats().bytes_live, before);
  {
    const Ref<Storage> second = first;
    first = {};
    EXPECT_GT(arena::stats().bytes_live, before);
  }
  EXPECT_EQ(arena::stats().bytes_live, before);
}

TEST(Storage, UnpooledBytesAreNotTheArenas) {
  constexpr std::size_t kBytes = 5'000'000;
  const std::size_t before = arena::stats().bytes_live;
  {
    const Unpooled unpooled;
    const Ref<Storage> large = Storage::allocate(kBytes);
    EXPECT_LT(arena::stats().bytes_live, before + kBytes) << "only its header";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large->data()) % arena::kAlignment, 0u);
    EXPECT_FALSE(large->read_only());
    EXPECT_TRUE(large->exclusive());
    std::memset(large->data(), 0x5a, kBytes);
    const std::size_t with_large = arena::stats().bytes_live;
    const Ref<Storage> small = Storage::allocate(1000);
    EXPECT_GE(arena::stats().bytes_live, with_large + 1000);
    std::memset(small->data(), 0x5a, 1000);
  }
  EXPECT_EQ(arena::stats().bytes_live, before);
  EXPECT_FALSE(Unpooled::is_active());
  const Ref<Storage> pooled = Storage::allocate(kBytes);
  EXPECT_GE(arena::stats().bytes_live, before + kBytes);
}

TEST(Storage, IsExclusiveWhileThereIsOneHandle) {
  const Ref<Storage> first = Storage::allocate(8);
  EXPECT_TRUE(first->exclusive());
  Ref<Storage> second = first;
  EXPECT_FALSE(first->exclusive());
  const Ref<Storage> third = std::move(second);
  EXPECT_FALSE(first->exclusive());
  second = third;
  second = {};
  EXPECT_FALSE(first->exclusive());
}

TEST(Storage, LentBytesAreWritten) {
  const auto owner = std::make_shared<int>(42);
  const std::size_t before = arena::stats().bytes_live;
  {
    const Ref<Storage> storage =
        Storage::lend(reinterpret_cast<std::byte*>(owner.get()), sizeof(int), owner);
    EXPECT_FALSE(storage->read_only());
    EXPECT_EQ(owner.use_count(), 2);
    std::memset(storage->data(), 0, sizeof(int));
  }
  EXPECT_EQ(*owner, 0);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(arena::stats().bytes_live, before);
}

TEST(Storage, BorrowedBytesAreReadOnlyAndTheKeeperLivesAsLong) {
  const auto owner = std::make_shared<int>(42);
  const std::weak_ptr<int> alive = owner;
  const std::size_t before = arena::stats().bytes_live;
  {
    const auto* const data = reinterpret_cast<const std::byte*>(owner.get());
    Ref<Storage> storage = Storage::borrow(data, sizeof(int), owner);
    EXPECT_TRUE(storage->read_only());
    EXPECT_EQ(storage->data(), data);
    EXPECT_EQ(owner.use_count(), 2);
    const Ref<Storage> copy = storage;
    storage = {};
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(arena::stats().bytes_live, before);
}

}  // namespace
}  // namespace heed
