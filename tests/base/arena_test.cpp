#include "heed/base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(Arena, BlocksAreAlignedAndHoldWhatWasAskedFor) {
  for (std::size_t bytes = 0; bytes < 70000; bytes = bytes * 9 / 8 + 1) {
    void* const block = arena::take(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % arena::kAlignment, 0u) << bytes;
    std::memset(block, 0xab, bytes);  // asan watches the end of the block
    arena::give(block, bytes);
  }
}

TEST(Arena, AFreedBlockIsTakenAgain) {
  void* const first = arena::take(5000);
  arena::give(first, 5000);
  const std::uint64_t before = arena::stats().system_allocations;
  void* const second = arena::take(5100);  // the same size class
  EXPECT_EQ(first, second);
  EXPECT_EQ(arena::stats().system_allocations, before);
  arena::give(second, 5100);
}

TEST(Arena, NoBlockWastesMoreThanAQuarter) {
  for (std::size_t bytes = 64; bytes < (std::size_t{1} << 24); bytes = bytes * 5 / 4 + 3) {
    const std::size_t before = arena::stats().bytes_live;
    void* const block = arena::take(bytes);
    const std::size_t taken = arena::stats().bytes_live - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 4 + 64);
    arena::give(block, bytes);
  }
}

TEST(Arena, PeakFollowsTheLiveBytes) {
  arena::reset_peak();
  const std::size_t base = arena::stats().bytes_live;
  {
    const Scratch<float> a(1 << 20);
    const Scratch<float> b(1 << 20);
  }
  EXPECT_EQ(arena::stats().bytes_live, base);
  EXPECT_GE(arena::stats().bytes_peak, base + (std::size_t{8} << 20));
}

TEST(Arena, TrimGivesWaitingBlocksBack) {
  arena::give(arena::take(3 << 20), 3 << 20);
  arena::trim();
  EXPECT_EQ(arena::stats().bytes_held, arena::stats().bytes_live);
}

TEST(Arena, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 2000; ++i) {
        const Scratch<int> scratch(16 + (i * 7 + t) % 300);
        scratch[0] = t;
        scratch[scratch.size() - 1] = t;
        ASSERT_EQ(scratch[0], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Arena, AnAbsurdSizeIsRefused) { EXPECT_THROW(arena::take(std::size_t{1} << 60), Error); }

}  // namespace
}  // namespace heed
