#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(T5Bias, BucketsAreThoseOfT5) {
  // 32 buckets, max_distance 128, as relative_position_bucket of the T5 models gives them.
  const T5Options both, decoder{.bidirectional = false};
  const auto bucket = [](std::int64_t distance, const T5Options& options) {
    return t5_bucket(distance, 32, options);
  };
  const std::vector<std::pair<std::int64_t, std::int64_t>> bidirectional{
      {0, 0},    {-1, 1},   {-7, 7},   {-8, 8},    {-11, 8},   {-12, 9},    {-16, 10},
      {-23, 11}, {-64, 14}, {-91, 15}, {-127, 15}, {-128, 15}, {-5000, 15}, {1, 17},
      {7, 23},   {8, 24},   {32, 28},  {127, 31},  {128, 31},  {5000, 31}};
  for (const auto& [distance, expected] : bidirectional) {
    EXPECT_EQ(bucket(distance, both), expected) << distance;
  }
  const std::vector<std::pair<std::int64_t, std::int64_t>> unidirectional{
      {5, 0}, {0, 0}, {-1, 1}, {-15, 15}, {-16, 16}, {-20, 17}, {-64, 26}, {-127, 31}, {-999, 31}};
  for (const auto& [distance, expected] : unidirectional) {
    EXPECT_EQ(bucket(distance, decoder), expected) << distance;
  }
}

// The first distance of each bucket, of T5Attention._relative_position_bucket of
// transformers 5.22.2 with 32 buckets and max_distance 128. The bidirectional ones are also those
// of MPNet.
TEST(T5Bias, BucketsAreThoseOfT5AtEveryDistance) {
  const std::vector<std::int64_t> both = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  const std::vector<std::int64_t> before = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                            11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                            35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const auto bucket_of = [](const std::vector<std::int64_t>& firsts, std::int64_t distance) {
    return std::ranges::upper_bound(firsts, distance) - firsts.begin() - 1;
  };
  for (std::int64_t distance = 0; distance <= 500; ++distance) {
    EXPECT_EQ(t5_bucket(-distance, 32, {}), bucket_of(both, distance)) << distance;
    EXPECT_EQ(t5_bucket(distance, 32, {}), bucket_of(both, distance) + (distance > 0 ? 16 : 0))
        << distance;
    EXPECT_EQ(t5_bucket(-distance, 32, {.bidirectional = false}), bucket_of(before, distance))
        << distance;
    EXPECT_EQ(t5_bucket(distance, 32, {.bidirectional = false}), 0) << distance;
  }
}

TEST(T5Bias, BucketsRiseWithDistanceAndNeverLeaveTheTable) {
  for (const std::int64_t buckets : {4, 8, 32, 64}) {
    for (const bool bidirectional : {true, false}) {
      const T5Options options{.bidirectional = bidirectional, .max_distance = 50};
      std::int64_t before = 0;
      for (std::int64_t distance = 0; distance < 300; ++distance) {
        const std::int64_t bucket = t5_bucket(-distance, buckets, options);
        EXPECT_GE(bucket, before);
        EXPECT_LT(bucket, bidirectional ? buckets / 2 : buckets);
        before = bucket;
      }
      EXPECT_EQ(before, (bidirectional ? buckets / 2 : buckets) - 1);
    }
  }
}

TEST(T5Bias, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(error_message([] { t5_bias(ones({32})); }),
            "[t5_bias] table [32]: it must be [buckets, H]");
  EXPECT_EQ(error_message([] {
              t5_bias(ones({2, 4}));
            }),
            "[t5_bias] 2 buckets: there must be an even number of them, at least 4");
  EXPECT_EQ(error_message([] {
              t5_bias(ones({7, 4}), {.bidirectional = false});
            }),
            "[t5_bias] 7 buckets: there must be an even number of them, at least 2");
  EXPECT_EQ(error_message([] {
              t5_bias(ones({32, 4}), {.max_distance = 8});
            }),
            "[t5_bias] max_distance 8: with 32 buckets it must be more than 8");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.modifiers = {t5_bias(ones({32, 4}))}});
            }),
            "[attention] table of t5_bias [32, 4]: it must be [buckets, H], q has 2 heads");
}

}  // namespace
}  // namespace heed
