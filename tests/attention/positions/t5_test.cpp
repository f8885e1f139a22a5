#include "heed/attention/positions/t5.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(T5Relative, EachHeadAddsTheNumberOfTheBucket) {
  for (const bool bidirectional : {true, false}) {
    const T5Relative code({.buckets = 8, .max_distance = 20, .bidirectional = bidirectional},
                          {.embed = 4, .heads = 2});
    Tensor scores;
    AttentionSpec spec{.observers = {observe_scores(scores)}};
    code.modify(spec, Corner::offset(3));
    const Tensor q = zeros({1, 2, 30, 2}), k = zeros({1, 2, 33, 2});
    attention(q, k, k, spec);
    const T5Options options{.bidirectional = bidirectional, .max_distance = 20};
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t i = 0; i < 30; ++i) {
        for (std::int64_t j = 0; j < 33; ++j) {
          const std::int64_t bucket = t5_bucket(j - i - 3, 8, options);
          EXPECT_EQ(scores.data<float>()[(h * 30 + i) * 33 + j],
                    code.weight.data<float>()[bucket * 2 + h]);
        }
      }
    }
  }
}

TEST(T5Relative, BadBucketsAreFoundWhenItIsMade) {
  const PositionSizes sizes{.embed = 4, .heads = 2};
  EXPECT_EQ(error_message([&] { T5Relative({.buckets = 7}, sizes); }),
            "[t5_bias] 7 buckets: there must be an even number of them, at least 4");
  EXPECT_EQ(error_message([&] { T5Relative({.max_distance = 8}, sizes); }),
            "[t5_bias] max_distance 8: with 32 buckets it must be more than 8");
  EXPECT_EQ(error_message([&] { T5Relative({}, {.embed = 4}); }),
            "[t5] heads is 0: it must be at least 1");
}

}  // namespace
}  // namespace heed
