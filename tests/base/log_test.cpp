// Messages reach the sink that is set, and only that one.
#include "heed/base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heed {
namespace {

class Log : public ::testing::Test {
 protected:
  void TearDown() override { set_log_sink(std::move(before_)); }

 private:
  LogSink before_ = set_log_sink({});
};

TEST_F(Log, GoesNowhereWithoutASink) {
  EXPECT_FALSE(log_enabled());
  log(LogLevel::error, "nobody hears {}", "this");
}

TEST_F(Log, ReachesTheSink) {
  std::vector<std::pair<LogLevel, std::string>> heard;
  set_log_sink([&](LogLevel level, std::string_view text) { heard.emplace_back(level, text); });
  EXPECT_TRUE(log_enabled());
  log(LogLevel::info, "step {} of {}", 3, 10);
  log(LogLevel::warning, "loss is {:.2f}", 1.5);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0], std::pair(LogLevel::info, std::string("step 3 of 10")));
  EXPECT_EQ(heard[1], std::pair(LogLevel::warning, std::string("loss is 1.50")));
}

TEST_F(Log, SettingReturnsTheSinkBefore) {
  int first = 0, second = 0;
  EXPECT_FALSE(set_log_sink([&](LogLevel, std::string_view) { ++first; }));
  LogSink previous = set_log_sink([&](LogLevel, std::string_view) { ++second; });
  log(LogLevel::info, "for the second");
  ASSERT_TRUE(previous);
  previous(LogLevel::info, "for the first");
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_TRUE(set_log_sink({}));
  EXPECT_FALSE(log_enabled());
}

TEST_F(Log, ASinkMayLogAndReplaceItself) {
  std::vector<std::string> heard;
  set_log_sink([&](LogLevel, std::string_view text) {
    heard.emplace_back(text);
    set_log_sink(
        [&](LogLevel, std::string_view inner) { heard.push_back("inner " + std::string(inner)); });
    log(LogLevel::debug, "again");
  });
  log(LogLevel::info, "once");
  EXPECT_EQ(heard, (std::vector<std::string>{"once", "inner again"}));
}

TEST_F(Log, IsSafeFromManyThreads) {
  std::atomic<int> heard{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (t == 0) set_log_sink([&](LogLevel, std::string_view) { ++heard; });
        log(LogLevel::info, "thread {} message {}", t, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(heard.load(), 200);
  EXPECT_LE(heard.load(), 800);
}

}  // namespace
}  // namespace heed
