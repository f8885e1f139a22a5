// Losses of labels and of tokens, by hand.
#include "heed/training/batch_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/data/batch.h"
#include "heed/models/output_layer.h"
#include "heed/tensor/create.h"

namespace heed::batch_losses_test {
namespace {

TEST(BatchLosses, OfLabels) {
  const Tensor scores = from_values<float>({0, 0, 0, std::log(3.0f)}, {2, 2}).requires_grad();
  const Tensor labels = from_values<std::int64_t>({0, 1}, {2});
  const double expected = std::log(2.0) + std::log(4.0 / 3.0);
  const BatchLoss plain = label_loss({scores, labels}, 0.0);
  EXPECT_NEAR(plain.sum.item(), expected, 1e-6);
  EXPECT_NEAR(plain.negative_log_likelihood, expected, 1e-6);
  EXPECT_EQ(plain.counted, 2);
  const BatchLoss smooth = label_loss({scores, labels}, 0.2);
  EXPECT_NEAR(smooth.negative_log_likelihood, expected, 1e-6) << "without smoothing";
  EXPECT_NEAR(smooth.sum.item(), expected + 0.1 * std::log(3.0), 1e-6);
}

TEST(BatchLosses, OfTokens) {
  const OutputLayer output(Weight(from_values<float>({0, std::log(3.0f)}, {2, 1}).requires_grad()));
  const Tensor states = from_values<float>({0, 1, 5}, {1, 3, 1});
  const Tensor expected = from_values<std::int64_t>({0, 1, kIgnored}, {1, 3});
  const LinearCrossEntropy computed = output.loss(states, expected, {.reduction = Reduction::sum});
  const BatchLoss loss = token_loss(computed);
  EXPECT_EQ(loss.counted, 2);
  EXPECT_NEAR(loss.sum.item(), std::log(2.0) + std::log(4.0 / 3.0), 1e-6);
  EXPECT_NEAR(loss.negative_log_likelihood, loss.sum.item(), 1e-6);
}

}  // namespace
}  // namespace heed::batch_losses_test
