// Streams over epochs: their order, their place, and going back to it.
#include "heed/data/epoch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Rows = std::vector<std::int32_t>;
using Stream = EpochStream<Rows>;

// Epoch e has e % 2 + 2 batches of one number each: 100 e + batch.
Stream::Maker counting() {
  return {.plan =
              [](std::int64_t epoch) {
                BatchPlan plan;
                for (int i = 0; i < 2 + epoch % 2; ++i) {
                  const std::int32_t row = static_cast<std::int32_t>(100 * epoch) + i;
                  plan.add({&row, 1});
                }
                return plan;
              },
          .make = [](std::span<const std::int32_t> rows,
                     std::int64_t) { return Rows(rows.begin(), rows.end()); }};
}

TEST(EpochStream, GoesThroughEpochs) {
  Stream stream(counting());
  EXPECT_EQ(stream.position(), (StreamPosition{0, 0}));
  EXPECT_EQ(stream.epoch_batches(), 2);
  const std::int32_t numbers[] = {0, 1, 100, 101, 102, 200, 201, 300};
  const StreamPosition after[] = {{0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {3, 0}, {3, 1}};
  const std::int64_t sizes[] = {2, 2, 3, 3, 3, 2, 2, 3};
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(stream.next(), ElementsAre(numbers[i]));
    EXPECT_EQ(stream.position(), after[i]) << i;
    EXPECT_EQ(stream.epoch_batches(), sizes[i]) << i;
  }
}

TEST(EpochStream, SeeksAnywhere) {
  Stream stream(counting(), 1);
  stream.seek({3, 2});
  EXPECT_EQ(stream.position(), (StreamPosition{3, 2}));
  EXPECT_EQ(stream.epoch_batches(), 3);
  EXPECT_THAT(stream.next(), ElementsAre(302));
  EXPECT_EQ(stream.position(), (StreamPosition{4, 0}));
  stream.seek({0, 1});
  EXPECT_THAT(stream.next(), ElementsAre(1));
  EXPECT_THAT(stream.next(), ElementsAre(100));
}

TEST(EpochStream, RefusesPositionsThatAreNone) {
  Stream stream(counting());
  EXPECT_THAT(error_message([&] {
                stream.seek({0, 2});
              }),
              HasSubstr("position 2 of epoch 0, which has 2 batches"));
  EXPECT_THAT(error_message([&] { stream.seek({-1, 0}); }), HasSubstr("no batch 0 of epoch -1"));
  EXPECT_THAT(stream.next(), ElementsAre(0)) << "a bad position changes nothing";
  EXPECT_THAT(error_message([] { Stream(counting(), 0); }), HasSubstr("ahead is 0"));
  EXPECT_THAT(error_message([] {
                Stream({.plan = [](std::int64_t) { return BatchPlan(); }, .make = counting().make});
              }),
              HasSubstr("nothing to read"));
}

TEST(EpochStream, PassesExceptionsOnAndRecovers) {
  Stream::Maker maker = counting();
  maker.make = [](std::span<const std::int32_t> rows, std::int64_t) {
    if (rows[0] == 101) fail("row {} is bad", rows[0]);
    return Rows(rows.begin(), rows.end());
  };
  Stream stream(maker);
  for (int i = 0; i < 3; ++i) stream.next();
  EXPECT_EQ(error_message([&] { stream.next(); }), "row 101 is bad");
  EXPECT_EQ(stream.position(), (StreamPosition{1, 1})) << "after the last good batch";
  stream.seek({1, 2});
  EXPECT_THAT(stream.next(), ElementsAre(102));
}

TEST(EpochStream, StartsAndStopsQuickly) {
  for (int i = 0; i < 200; ++i) {
    Stream stream(counting(), static_cast<std::size_t>(1 + i % 4));
    for (int n = 0; n < i % 7; ++n) stream.next();
    if (i % 3 == 0) {
      stream.seek({i, 1});
      EXPECT_THAT(stream.next(), ElementsAre(100 * i + 1));
    }
  }
}

}  // namespace
}  // namespace heed
