#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(WeightDropout, KeepsTheMean) {
  const Tensor q = zeros({1, 4, 100, 2}), k = zeros({1, 4, 200, 2}), v = ones({1, 4, 200, 3});
  const Tensor y = attention(q, k, v, {.reweights = {weight_dropout(0.25, 3)}});
  EXPECT_NEAR(mean(y).item(), 1.0, 0.01);  // 80000 weights: a deviation is 0.002
  EXPECT_NEAR(variance(y).item(), (0.25 / 0.75) / 200.0, 0.0003);
}

TEST(WeightDropout, StreamsOfOneSeedDiffer) {
  Generator generator(9);
  const Tensor x = normal({1, 1, 20, 4}, 0.0, 1.0, generator);
  const auto with = [&](Reweight dropout) {
    return attention(x, x, x, {.reweights = {std::move(dropout)}});
  };
  EXPECT_TRUE(
      test::same_bits(with(weight_dropout(0.5, 3)), with(weight_dropout(0.5, RandomStream{3, 0}))));
  EXPECT_FALSE(test::same_bits(with(weight_dropout(0.5, RandomStream{3, 1})),
                               with(weight_dropout(0.5, RandomStream{3, 0}))));
  EXPECT_TRUE(test::same_bits(with(weight_dropout(0.0, 3)), attention(x, x, x)));
}

TEST(WeightDropout, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { weight_dropout(1.0, 3); }),
            "[weight_dropout] p is 1: the probability of dropping a weight must be in [0, 1)");
  EXPECT_EQ(error_message([] { weight_dropout(-0.1, 3); }),
            "[weight_dropout] p is -0.1: the probability of dropping a weight must be in [0, 1)");
  EXPECT_EQ(error_message([] { weight_dropout(0.1); }),
            "[weight_dropout] p is 0.1 and there is no seed: give one, or a stream of a generator");
}

}  // namespace
}  // namespace heed
