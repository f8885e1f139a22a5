// Scopes that end long work: in loops of any size and number of threads, and in reads of files.
#include "heed/base/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "heed/base/threads.h"
#include "heed/io/file.h"
#include "heed/io/lines.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

[[noreturn]] void stop() { throw Interrupted(); }

TEST(Interrupt, WithoutAScopeNothingHappens) { EXPECT_NO_THROW(check_interrupt()); }

TEST(Interrupt, TheInnermostScopeIsAsked) {
  int outer = 0, inner = 0;
  const InterruptScope one([&] { ++outer; });
  check_interrupt();
  EXPECT_EQ(outer, 1);
  {
    const InterruptScope two([&] { ++inner; });
    check_interrupt();
    EXPECT_EQ(inner, 1);
    EXPECT_EQ(outer, 1);
  }
  std::thread([] { EXPECT_NO_THROW(check_interrupt()); }).join();
  {
    const InterruptScope three(stop);
    EXPECT_THROW(check_interrupt(), Interrupted);
  }
  EXPECT_NO_THROW(check_interrupt());
}

TEST(Interrupt, TheFunctionIsNotCalledTooOften) {
  int calls = 0;
  const InterruptScope scope([&] { ++calls; });
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100000; ++i) check_interrupt();
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(calls, 1 + passed / std::chrono::milliseconds(10));
}

// The loop would take very long; the function asks for its end after some cells.
TEST(Interrupt, EndsALoop) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    std::atomic<std::int64_t> cells = 0;
    const auto loop = [&] {
      parallel_for(std::int64_t{1} << 40, 1 << 20, [&](std::int64_t) { ++cells; });
    };
    {
      const InterruptScope scope([&] {
        if (cells > 100) stop();
      });
      EXPECT_THROW(loop(), Interrupted) << threads;
    }
    EXPECT_GT(cells, 100);
    std::atomic<std::int64_t> sum = 0;  // of a loop that is long enough for several slices
    parallel_for(10000, 1 << 24, [&](std::int64_t i) { sum += i; });
    EXPECT_EQ(sum.load(), std::int64_t{10000} * 9999 / 2);
    std::atomic<int> after = 0;
    parallel_for(1000, 1 << 20, [&](std::int64_t) { ++after; });
    EXPECT_EQ(after, 1000) << "the next loop is complete";
  }
  set_num_threads(before);
}

TEST(Interrupt, ACellIsNotCutOff) {
  const int before = num_threads();
  set_num_threads(1);
  bool is_inside = false;
  const InterruptScope scope([&] { EXPECT_FALSE(is_inside); });
  parallel_for(2, 1 << 20, [&](std::int64_t cell) {
    if (cell != 0) return;
    is_inside = true;
    parallel_for(1000, 1 << 20, [](std::int64_t) { std::this_thread::yield(); });
    is_inside = false;
  });
  set_num_threads(before);
}

TEST(Interrupt, EndsTheReadingOfAFile) {
  const TempDir dir;
  io::write_file(dir / "text", "a\nb\n");
  const InterruptScope scope(stop);
  EXPECT_THROW(
      {
        io::LineReader reader(dir / "text");
        for (std::string line; reader.next(line);) continue;
      },
      Interrupted);
}

}  // namespace
}  // namespace heed
