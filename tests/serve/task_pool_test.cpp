#include "heed/serve/task_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

namespace heed::serve {
namespace {

TEST(TaskPool, RunsAllTasks) {
  std::atomic<int> count = 0;
  {
    TaskPool pool(3, 1000);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(pool.try_post([&] { ++count; }));
    pool.wait_idle();
    EXPECT_EQ(count, 100);
    pool.post([&] { ++count; });
  }
  EXPECT_EQ(count, 101);  // what waits is run before the end
}

TEST(TaskPool, RefusesWhenTooManyWait) {
  TaskPool pool(1, 2);
  std::promise<void> started, released;
  std::string order;
  EXPECT_TRUE(pool.try_post([&] {
    started.set_value();
    released.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.try_post([&] { order += "a"; }));
  EXPECT_TRUE(pool.try_post([&] { order += "b"; }));
  EXPECT_FALSE(pool.try_post([&] { order += "c"; }));
  pool.post([&] { order += "end"; });  // never refused, and first
  EXPECT_EQ(pool.waiting(), 3u);
  released.set_value();
  pool.wait_idle();
  EXPECT_EQ(order, "endab");
}

}  // namespace
}  // namespace heed::serve
