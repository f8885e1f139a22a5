#include "heed/serve/exchange.h"

#include <gtest/gtest.h>

#include "heed/serve/api_error.h"
#include "tests/serve/recorder.h"

namespace heed::serve {
namespace {

TEST(Exchange, AnswersOnce) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  exchange.headers.emplace_back("Vary", "Origin");
  exchange.answer({.status = 200, .body = "first"});
  exchange.answer({.status = 500, .body = "second"});
  exchange.write("third");
  ASSERT_EQ(recorder->answers.size(), 1u);
  EXPECT_EQ(recorder->answers[0].body, "first");
  EXPECT_EQ(recorder->answers[0].headers.back().second, "Origin");
  EXPECT_FALSE(exchange.is_open());
}

TEST(Exchange, StreamsUntilTheEnd) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  exchange.write("too early");
  exchange.begin({});
  exchange.write("a");
  exchange.write("b");
  exchange.end();
  exchange.write("too late");
  EXPECT_EQ(recorder->streamed, "ab");
  EXPECT_TRUE(recorder->has_ended);
  EXPECT_FALSE(recorder->is_aborted);
}

TEST(Exchange, CancelsOnceAndAlsoLate) {
  int count = 0;
  Exchange exchange({}, std::weak_ptr<Transport>());
  exchange.on_cancel([&] { ++count; });
  exchange.cancel();
  exchange.cancel();
  EXPECT_EQ(count, 1);
  exchange.on_cancel([&] { ++count; });  // it is cancelled already
  EXPECT_EQ(count, 2);
}

TEST(Exchange, DropsTheActionWithTheAnswer) {
  const auto held = std::make_shared<int>(1);
  Exchange exchange({}, std::weak_ptr<Transport>());
  exchange.on_cancel([held] {});
  EXPECT_EQ(held.use_count(), 2);
  exchange.answer({});
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Exchange, ExpiresWithAnError) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  bool is_cancelled = false;
  exchange.on_cancel([&] { is_cancelled = true; });
  exchange.expire(try_again(503, "late", 1, "time"));
  ASSERT_EQ(recorder->answers.size(), 1u);
  EXPECT_EQ(recorder->answers[0].status, 503);
  EXPECT_EQ(exchange.facts().refusal, "time");
  EXPECT_TRUE(exchange.is_cancelled());
  EXPECT_TRUE(is_cancelled);
}

TEST(Exchange, AStreamThatExpiresDoesNotLookWhole) {
  const auto recorder = std::make_shared<Recorder>();
  Exchange exchange({}, recorder);
  bool is_cancelled = false;
  exchange.on_cancel([&] { is_cancelled = true; });
  exchange.begin({});
  exchange.expire(try_again(503, "late", 1, "time"));
  EXPECT_TRUE(recorder->is_aborted);
  EXPECT_FALSE(recorder->has_ended);
  EXPECT_NE(recorder->streamed.find("late"), std::string::npos);
  EXPECT_TRUE(is_cancelled);
}

}  // namespace
}  // namespace heed::serve
