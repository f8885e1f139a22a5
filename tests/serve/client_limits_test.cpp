#include "heed/serve/client_limits.h"

#include <gtest/gtest.h>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

using std::chrono::seconds;

constexpr Clock::time_point kStart{seconds(1000)};

int status_of(const std::function<void()>& work) {
  try {
    work();
    return 200;
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.retry_after.has_value());
    return error.status;
  }
}

TEST(ClientLimits, CountsRequestsAtTheSameTime) {
  ClientLimits limits({.at_once = 2});
  auto first = limits.enter("a", {});
  const auto second = limits.enter("a", {});
  EXPECT_EQ(status_of([&] { limits.enter("a", {}); }), 429);
  EXPECT_EQ(status_of([&] { limits.enter("b", {}); }), 200);
  first.reset();
  EXPECT_EQ(status_of([&] { limits.enter("a", {}); }), 200);
}

TEST(ClientLimits, CountsRequestsOfAMinute) {
  ClientLimits limits({.at_once = 10, .per_minute = 3});
  for (int i = 0; i < 3; ++i) limits.enter("a", {}, kStart);
  EXPECT_EQ(status_of([&] { limits.enter("a", {}, kStart); }), 429);
  EXPECT_EQ(status_of([&] { limits.enter("a", {}, kStart + seconds(21)); }), 200);
  EXPECT_EQ(status_of([&] { limits.enter("a", {}, kStart + seconds(22)); }), 429);
  EXPECT_EQ(status_of([&] { limits.enter("b", 100.0, kStart); }), 200);  // a rate of its own
}

TEST(ClientLimits, CountsTextsOfAllRequests) {
  ClientLimits limits({.at_once = 10, .texts = 5});
  auto first = limits.enter("a", {});
  const auto second = limits.enter("a", {}), other = limits.enter("b", {});
  first->add_texts(3);
  EXPECT_EQ(status_of([&] { second->add_texts(3); }), 429);
  EXPECT_EQ(status_of([&] { other->add_texts(5); }), 200);
  second->add_texts(2);
  first.reset();
  EXPECT_EQ(status_of([&] { second->add_texts(3); }), 200);
  EXPECT_THROW(second->add_texts(6), ApiError);  // 400: trying again would not help
}

TEST(ClientLimits, ANetworkOfIpv6IsOneClient) {
  EXPECT_EQ(client_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(client_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(client_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(client_of("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_NE(client_of("2001:db8:1:3::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(client_of("no address"), "no address");
}

TEST(ClientLimits, SlowsDownWrongKeys) {
  ClientLimits limits({.at_once = 1, .bad_keys_per_minute = 2});
  limits.check_tries("x", kStart);
  limits.note_bad_key("x", kStart);
  EXPECT_EQ(status_of([&] { limits.check_tries("x", kStart); }), 200);
  limits.note_bad_key("x", kStart);
  EXPECT_EQ(status_of([&] { limits.check_tries("x", kStart); }), 429);
  EXPECT_EQ(status_of([&] { limits.check_tries("y", kStart); }), 200);
  EXPECT_EQ(status_of([&] { limits.check_tries("x", kStart + seconds(31)); }), 200);
  int compared = 2;
  for (int second = 1; second <= 600; ++second) {  // ten minutes of guessing
    const Clock::time_point now = kStart + seconds(second);
    for (int i = 0; i < 5 && status_of([&] { limits.check_tries("x", now); }) == 200; ++i) {
      limits.note_bad_key("x", now);
      ++compared;
    }
  }
  EXPECT_LE(compared, 2 + 10 * 2);
}

TEST(ClientLimits, ForgetsIdleClients) {
  ClientLimits limits({.at_once = 1, .per_minute = 60, .bad_keys_per_minute = 2});
  limits.note_bad_key("x", kStart);
  auto permit = limits.enter("a", {}, kStart);
  EXPECT_EQ(limits.forget_idle(kStart), 2u);
  EXPECT_EQ(limits.forget_idle(kStart + seconds(100)), 1u);  // a request runs
  permit.reset();
  EXPECT_EQ(limits.forget_idle(kStart + seconds(100)), 0u);
}

}  // namespace
}  // namespace heed::serve
