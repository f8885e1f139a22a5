// The order of requests, the limits of the queue, and how requests end.
#include "heed/generation/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/error_message.h"

namespace heed::request_queue_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

Request of(std::int64_t length, int priority = 0) {
  return {.source = std::vector<std::int32_t>(static_cast<std::size_t>(length), 5),
          .priority = priority};
}

Numbers numbers(const std::vector<QueuedPtr>& jobs) {
  Numbers all;
  for (const QueuedPtr& job : jobs) all.push_back(job->number);
  return all;
}

TEST(RequestQueue, IsInOrderOfPriorityAndThenOfTime) {
  RequestQueue queue({});
  for (const int priority : {0, 2, 0, 1, 2}) queue.add(of(3, priority), 0);
  EXPECT_EQ(queue.waiting(), 5);
  EXPECT_THAT(numbers(queue.take(2, 100)), ElementsAre(1, 4));
  EXPECT_THAT(numbers(queue.take(9, 100)), ElementsAre(3, 0, 2));
  EXPECT_EQ(queue.waiting(), 0);
  EXPECT_EQ(queue.unfinished(), 5);
}

TEST(RequestQueue, ABatchHasSoManyTokens) {
  RequestQueue queue({});
  for (const std::int64_t length : {50, 4, 4, 6, 2}) queue.add(of(length), 0);
  EXPECT_THAT(numbers(queue.take(9, 12)), ElementsAre(0)) << "one whatever its length";
  EXPECT_THAT(numbers(queue.take(9, 12)), ElementsAre(1, 2)) << "three of 6 are 18";
  EXPECT_THAT(numbers(queue.take(9, 12)), ElementsAre(3, 4));
}

TEST(RequestQueue, MemoryIsReservedUntilARequestEnds) {
  RequestQueue queue({.bytes = 10});
  for (const std::int64_t bytes : {6, 5, 1}) queue.add(of(1), bytes);
  const std::vector<QueuedPtr> first = queue.take(9, 100);
  EXPECT_THAT(numbers(first), ElementsAre(0)) << "the third does not overtake the second";
  EXPECT_FALSE(queue.has_next());
  queue.finish(*first[0], {}, {});
  EXPECT_EQ(queue.reserved(), 0);
  EXPECT_TRUE(queue.has_next());
  EXPECT_THAT(numbers(queue.take(9, 100)), ElementsAre(1, 2));
  EXPECT_EQ(queue.reserved(), 6);
}

TEST(RequestQueue, RefusesWhatNeverFits) {
  RequestQueue queue({.bytes = 3 << 20});
  EXPECT_THAT(error_message([&] { queue.add(of(1), 5 << 20); }),
              HasSubstr("needs up to 5 MB for its keys and values, 3 MB are allowed"));
}

TEST(RequestQueue, RefusesWhenItIsFull) {
  RequestQueue queue({.requests = 2});
  queue.add(of(1), 0);
  queue.add(of(1), 0);
  EXPECT_THROW(queue.add(of(1), 0), QueueFull);
  queue.take(1, 9);
  EXPECT_NO_THROW(queue.add(of(1), 0));
}

TEST(RequestQueue, CancelledRequestsEnd) {
  RequestQueue queue({});
  int cancelled = 0;
  for (int i = 0; i < 3; ++i) {
    Request request = of(1);
    request.on_done = [&](const NBest&, const std::exception_ptr& error) {
      EXPECT_THROW(std::rethrow_exception(error), Cancelled);
      ++cancelled;
    };
    queue.add(std::move(request), 0);
  }
  const QueuedPtr taken = queue.take(1, 9).at(0);
  queue.cancel(1);
  EXPECT_EQ(cancelled, 1) << "at once if it waits";
  queue.cancel(0);
  EXPECT_EQ(cancelled, 1) << "by who computes it if it was taken";
  EXPECT_TRUE(taken->is_cancelled);
  queue.finish(*taken, {}, std::make_exception_ptr(Cancelled()));
  queue.cancel(0);  // it has ended
  queue.cancel_all();
  EXPECT_EQ(cancelled, 3);
  EXPECT_EQ(queue.unfinished(), 0);
}

TEST(RequestQueue, WakesWhoWaits) {
  RequestQueue queue({});
  std::thread other([&] { queue.wait_for_work(); });
  queue.add(of(1), 0);
  other.join();
  queue.take(1, 9);
  std::thread woken([&] { queue.wait_for_work(); });
  queue.wake();
  woken.join();
}

}  // namespace
}  // namespace heed::request_queue_test
