// The guard: it skips what is not finite and isolated jumps, and adapts to a new level.
#include "heed/training/loss_guard.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace heed {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Feeds losses as a trainer does and counts the skipped ones.
class Feed {
 public:
  explicit Feed(double explosion = 5.0) : guard_(explosion, progress_) {}

  bool skips(double loss, double norm = 1.0) {
    const bool skipped = guard_.skips(loss, norm);
    ++progress_.updates;
    progress_.skipped += skipped ? 1 : 0;
    return skipped;
  }
  int count(int updates, const std::function<double(int)>& loss) {
    int skipped = 0;
    for (int i = 0; i < updates; ++i) skipped += skips(loss(i)) ? 1 : 0;
    return skipped;
  }
  int count(int updates, double loss) {
    return count(updates, [&](int) { return loss; });
  }

 private:
  TrainingProgress progress_;
  LossGuard guard_;
};

TEST(LossGuard, WhatIsNotFiniteIsSkipped) {
  for (const double explosion : {5.0, 0.0}) {
    Feed feed(explosion);
    EXPECT_TRUE(feed.skips(kNan));
    EXPECT_TRUE(feed.skips(kInfinity));
    EXPECT_TRUE(feed.skips(2.0, kInfinity));
    EXPECT_TRUE(feed.skips(2.0, kNan));
    EXPECT_EQ(feed.count(100, 2.0), 0);
    EXPECT_EQ(feed.count(100, kNan), 100);
    EXPECT_FALSE(feed.skips(2.0));
  }
}

TEST(LossGuard, AnIsolatedJumpIsSkipped) {
  Feed feed;
  EXPECT_EQ(feed.count(200, 2.0), 0);
  EXPECT_FALSE(feed.skips(9.9));
  EXPECT_TRUE(feed.skips(12.0));
  EXPECT_EQ(feed.count(100, 2.0), 0);
  EXPECT_EQ(feed.count(1000, [](int i) { return i % 20 == 0 ? 1e6 : 2.0; }), 50);
}

TEST(LossGuard, TheFirstLossesAreTooFewForAnAverage) {
  Feed feed;
  EXPECT_TRUE(feed.skips(kNan));
  EXPECT_EQ(feed.count(49, [](int i) { return i % 2 == 0 ? 1.0 : 100.0; }), 0);
}

TEST(LossGuard, ANewLevelIsAccepted) {
  for (const double level : {20.0, 1e3, 1e9}) {
    Feed feed;
    feed.count(200, 2.0);
    EXPECT_EQ(feed.count(1000, level), 6) << level;
    EXPECT_EQ(feed.count(1000, 2.0), 0) << level;
    EXPECT_EQ(feed.count(1000, level), 6) << level << " again";
  }
}

TEST(LossGuard, OtherDataAfterConvergenceAreTrainedOn) {
  Feed feed;
  feed.count(1000, 1.6e-4);
  EXPECT_EQ(feed.count(100, 2.7), 0);
}

// A third of the updates are on new data: they are not skipped for good.
TEST(LossGuard, FrequentJumpsAreAccepted) {
  Feed feed;
  feed.count(1000, 1e-4);
  EXPECT_LT(feed.count(3000, [](int i) { return i % 3 == 0 ? 9.0 : 1e-4; }), 30);
}

TEST(LossGuard, TinyLossesAreNoJumps) {
  Feed feed;
  feed.count(1000, 1e-8);
  EXPECT_EQ(feed.count(100, [](int i) { return i % 2 == 0 ? 5e-7 : 1e-3; }), 0);
}

TEST(LossGuard, CanBeTurnedOff) {
  Feed feed(0.0);
  feed.count(100, 1.0);
  EXPECT_EQ(feed.count(100, 1e30), 0);
}

}  // namespace
}  // namespace heed
