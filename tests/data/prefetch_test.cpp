// Making ahead: order, bound, exceptions, quick ends.
#include "heed/data/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Prefetch, GivesResultsInOrder) {
  Prefetch<int> numbers([n = 0]() mutable { return n++; }, 3);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(numbers.take(), i);
}

TEST(Prefetch, MakesNoMoreThanFits) {
  std::atomic<int> made = 0;
  Prefetch<int> numbers([&] { return made++; }, 4);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(numbers.take(), i);
    // One more may be in the making than are ready, none beyond.
    ASSERT_LE(made, i + 1 + 4 + 1);
  }
}

TEST(Prefetch, GivesThingsThatOnlyMove) {
  Prefetch<std::unique_ptr<int>> boxes([n = 0]() mutable { return std::make_unique<int>(n++); }, 2);
  EXPECT_EQ(*boxes.take(), 0);
  EXPECT_EQ(*boxes.take(), 1);
}

TEST(Prefetch, PassesExceptionsOnInTheirPlace) {
  Prefetch<int> numbers(
      [n = 0]() mutable {
        if (n == 3) fail("no number {}", n);
        return n++;
      },
      8);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(numbers.take(), i);
  EXPECT_EQ(error_message([&] { numbers.take(); }), "no number 3");
  EXPECT_EQ(error_message([&] { numbers.take(); }), "no number 3") << "and ever after";
}

TEST(Prefetch, EndsAtAnyTime) {
  for (int takes = 0; takes < 200; ++takes) {
    Prefetch<std::string> texts([] { return std::string(100, 'x'); }, 1 + takes % 3);
    for (int i = 0; i < takes % 5; ++i) texts.take();
  }
}

TEST(Prefetch, EndsWhileMaking) {
  std::atomic<bool> started = false;
  {
    Prefetch<int> slow(
        [&] {
          started = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          return 1;
        },
        1);
    while (!started) std::this_thread::yield();
  }
  SUCCEED() << "the destructor has waited and returned";
}

}  // namespace
}  // namespace heed
