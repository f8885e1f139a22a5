// The pool: each cell once, whoever calls, whatever is thrown, however many threads.
#include "heed/base/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/thread_team.h"

namespace heed {
namespace {

// Large enough that the serial cut-off never applies.
constexpr std::int64_t kCostly = 1 << 20;

class Threads : public ::testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

void expect_each_once(std::int64_t cells, std::int64_t cost) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(cells));
  parallel_for(cells, cost, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_EQ(runs[i].load(), 1) << "cell " << i << " of " << cells << ", cost " << cost;
  }
}

/// Runs a loop whose cells wait for each other, and so only ends if `threads` threads take part.
std::set<std::thread::id> threads_that_meet(int threads) {
  std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
  std::atomic<int> arrived{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(threads, kCostly, [&](std::int64_t i) {
    ids[static_cast<std::size_t>(i)] = std::this_thread::get_id();
    ++arrived;
    while (arrived.load() < threads && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  });
  return {ids.begin(), ids.end()};
}

TEST_F(Threads, RunEachCellOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (const std::int64_t cells : {0, 1, 2, 3, 7, 8, 63, 1000, 4097}) {
      for (const std::int64_t cost :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, kCostly, std::int64_t{1} << 62}) {
        expect_each_once(cells, cost);
      }
    }
  }
}

TEST_F(Threads, NegativeCellsAreNone) {
  parallel_for(-3, kCostly, [](std::int64_t) { FAIL(); });
}

TEST_F(Threads, AsManyTakePartAsWereSet) {
  for (const int threads : {1, 2, 3, 5, 2}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_EQ(threads_that_meet(threads).size(), static_cast<std::size_t>(threads));
  }
}

TEST_F(Threads, WakeAfterSleep) {
  set_num_threads(3);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(threads_that_meet(3).size(), 3u);
    EXPECT_EQ(threads_that_meet(2).size(), 2u);
  }
}

TEST_F(Threads, SmallLoopsStayOnTheCaller) {
  set_num_threads(4);
  const auto caller = std::this_thread::get_id();
  for (int repeat = 0; repeat < 100; ++repeat) {
    parallel_for(100, 10, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  }
}

TEST_F(Threads, WritesOfCellsAreSeenByTheCaller) {
  set_num_threads(4);
  std::vector<std::int64_t> squares(513);
  for (int repeat = 0; repeat < 300; ++repeat) {
    parallel_for(513, kCostly,
                 [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = i * i + repeat; });
    for (std::int64_t i = 0; i < 513; ++i) {
      ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i + repeat);
    }
  }
}

TEST_F(Threads, FirstExceptionByCellNumber) {
  for (const int threads : {1, 2, 4}) {
    set_num_threads(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_for(200, kCostly, [](std::int64_t i) {
          // Gives a later failure the chance to be noticed first.
          if (i == 41) std::this_thread::sleep_for(std::chrono::microseconds(200));
          if (i >= 41 && i % 3 == 2) throw std::runtime_error(std::to_string(i));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "41");
      }
    }
    expect_each_once(100, kCostly);
  }
}

TEST_F(Threads, NestedLoopsRunOnTheThreadThatCallsThem) {
  set_num_threads(3);
  std::vector<std::int64_t> sums(16);
  parallel_for(16, kCostly, [&](std::int64_t i) {
    const auto self = std::this_thread::get_id();
    parallel_for(100, kCostly, [&](std::int64_t j) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      sums[static_cast<std::size_t>(i)] += j;
    });
  });
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 4950);
}

TEST_F(Threads, TeamsComputeAtTheSameTime) {
  set_num_threads(2);
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int i = 0; i < 2; ++i) teams.push_back(std::make_unique<ThreadTeam>(2));
  std::mutex mutex;
  std::vector<std::set<std::thread::id>> took_part(2);
  parallel_for(2, kCostly, [&](std::int64_t i) {
    const ThreadTeam::Scope scope(*teams[static_cast<std::size_t>(i)]);
    // The two cells of a loop wait for each other, so they are on two threads.
    std::barrier both(2);
    parallel_for(2, kCostly, [&](std::int64_t) {
      both.arrive_and_wait();
      const std::lock_guard lock(mutex);
      took_part[static_cast<std::size_t>(i)].insert(std::this_thread::get_id());
      int nested = 0;
      parallel_for(3, kCostly, [&](std::int64_t) { ++nested; });  // no race: serial
      EXPECT_EQ(nested, 3);
    });
  });
  EXPECT_EQ(took_part[0].size(), 2u);
  EXPECT_EQ(took_part[1].size(), 2u);
}

TEST_F(Threads, ATeamOfOneIsTheCaller) {
  set_num_threads(3);
  ThreadTeam team(1);
  const ThreadTeam::Scope scope(team);
  const auto self = std::this_thread::get_id();
  parallel_for(50, kCostly, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST_F(Threads, ExceptionsPassThroughNestedLoops) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(4, kCostly,
                            [](std::int64_t) {
                              parallel_for(4, kCostly, [](std::int64_t) { fail("inner"); });
                            }),
               Error);
  EXPECT_EQ(threads_that_meet(2).size(), 2u) << "the pool works on after a failure";
}

TEST_F(Threads, ConcurrentCallersAndResizing) {
  std::atomic<std::int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        if (repeat % 10 == c) set_num_threads(1 + (repeat + c) % 4);
        parallel_for(40, kCostly, [&](std::int64_t i) { total += i; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 4 * 50 * 780);
}

TEST_F(Threads, RefuseNumbersThatMakeNoSense) {
  EXPECT_THROW(set_num_threads(0), Error);
  EXPECT_THROW(set_num_threads(-2), Error);
  EXPECT_THROW(set_num_threads(1 << 20), Error);
}

#ifndef __SANITIZE_THREAD__  // the thread sanitizer refuses threads in a forked child
TEST_F(Threads, AForkedChildStartsItsOwn) {
  set_num_threads(3);
  ASSERT_EQ(threads_that_meet(3).size(), 3u);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(threads_that_meet(3).size() == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(threads_that_meet(3).size(), 3u);
}
#endif

// Each starts a fresh program, where the variable has not been read yet.
TEST(ThreadsDeathTest, DefaultComesFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("HEED_THREADS", "7", 1);
        _exit(num_threads());
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(ThreadsDeathTest, BadEnvironmentIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* text : {"0", "-1", "two", "3x", "99999999999"}) {
    EXPECT_EXIT(
        {
          setenv("HEED_THREADS", text, 1);
          try {
            num_threads();
          } catch (const Error& e) {
            fputs(e.what(), stderr);
            _exit(3);
          }
          _exit(0);
        },
        ::testing::ExitedWithCode(3), std::string("HEED_THREADS is '") + text);
  }
}

TEST(ThreadsDeathTest, ExitFromInsideACellEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        set_num_threads(3);
        parallel_for(8, kCostly, [](std::int64_t i) {
          if (i == 5) std::exit(4);
        });
      },
      ::testing::ExitedWithCode(4), "");
}

int twice(int x) { return 2 * x; }

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  auto count = [&calls](int by) mutable { return calls += by; };
  const FunctionRef<int(int)> ref = count;
  const FunctionRef<int(int)> copy = ref;
  EXPECT_EQ(ref(2), 2);
  EXPECT_EQ(copy(3), 5);

  int (*const pointer)(int) = twice;
  EXPECT_EQ(FunctionRef<int(int)>(pointer)(21), 42);

  const auto constant = [](const std::string& s) { return s.size(); };
  EXPECT_EQ(FunctionRef<std::size_t(const std::string&)>(constant)("abc"), 3u);
}

TEST(FunctionRef, AcceptsOnlyWhatFits) {
  using Ref = FunctionRef<void(std::int64_t)>;
  EXPECT_TRUE((std::is_constructible_v<Ref, void (*&)(std::int64_t)>));
  EXPECT_FALSE((std::is_constructible_v<Ref, int&>));
}

}  // namespace
}  // namespace heed
