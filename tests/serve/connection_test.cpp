#include "heed/serve/connection.h"

#include <gtest/gtest.h>

#include "tests/serve/small_service.h"

namespace heed::serve {
namespace {

struct CountingConnection : Connection {
  int idle = 0, now = 0;
  void close_when_idle() override { ++idle; }
  void close_now() override { ++now; }
};

TEST(Connections, CountsAddresses) {
  ServeConfig config = small_models().config();
  config.limits.connections = 3;
  config.limits.connections_per_address = 2;
  Service service(config);
  Connections connections(service);
  EXPECT_TRUE(connections.enter("a"));
  EXPECT_TRUE(connections.enter("a"));
  EXPECT_FALSE(connections.enter("a"));
  EXPECT_TRUE(connections.enter("b"));
  EXPECT_FALSE(connections.enter("c"));
  connections.leave("a");
  EXPECT_TRUE(connections.enter("c"));
  EXPECT_EQ(connections.count(), 3u);
  EXPECT_EQ(service.metrics().connections, 3);
}

TEST(Connections, LimitsTheMemoryOfAll) {
  ServeConfig config = small_models().config();
  config.limits.buffer_megabytes = 1;
  Service service(config);
  Connections connections(service);
  constexpr std::size_t kHalf = 1 << 19;
  EXPECT_TRUE(connections.try_hold(kHalf));
  EXPECT_FALSE(connections.try_hold(kHalf + 1));
  EXPECT_TRUE(connections.try_hold(kHalf));
  EXPECT_FALSE(connections.try_hold(1));
  connections.drop(kHalf);
  EXPECT_TRUE(connections.try_hold(1));
}

TEST(Connections, ReachesThoseThatAreThere) {
  Service service(small_models().config());
  Connections connections(service);
  const auto one = std::make_shared<CountingConnection>();
  auto gone = std::make_shared<CountingConnection>();
  connections.add(std::weak_ptr<Connection>(one));
  connections.add(std::weak_ptr<Connection>(gone));
  gone.reset();
  connections.remove_gone();
  connections.close_when_idle();
  connections.close_now();
  EXPECT_EQ(one->idle, 1);
  EXPECT_EQ(one->now, 1);
}

}  // namespace
}  // namespace heed::serve
