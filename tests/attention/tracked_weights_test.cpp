// Weights with gradient against those that layers observe, and against central differences.
#include "heed/attention/tracked_weights.h"

#include <gtest/gtest.h>

#include "heed/attention/variants/multi_head.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::tracked_weights_test {
namespace {

TEST(TrackedWeights, AreThoseThatTheLayerObserves) {
  Generator generator(3);
  MultiHeadAttention layer({.embed = 12, .heads = 3, .kv_heads = 1, .dropout = 0.5}, generator);
  const Tensor x = normal({2, 5, 12}, 0.0, 1.0, generator);
  const Tensor memory = normal({2, 7, 12}, 0.0, 1.0, generator);
  const Tensor lengths = from_values<std::int64_t>({7, 4}, {2});
  Tensor observed;
  {
    layer.eval();
    layer({.x = x, .memory = memory, .lengths = lengths, .weights = &observed});
    layer.train();
  }
  TrackedWeights tracked(layer);
  const MultiHeadAttention other({.embed = 12, .heads = 3}, generator);
  other({.x = x});
  EXPECT_FALSE(tracked.weights.defined()) << "only its own layer";
  layer({.x = x, .memory = memory, .lengths = lengths});
  ASSERT_EQ(tracked.weights.shape(), observed.shape());
  EXPECT_LE(test::max_relative_error(tracked.weights, observed), 1e-5) << "without dropout";
  EXPECT_TRUE(tracked.weights.tracks_grad());
}

TEST(TrackedWeights, HaveTheGradientOfAttention) {
  test::check_op({.name = "attention_weights",
                  .shapes = {{2, 4, 3, 5}, {2, 2, 7, 5}},
                  .op = [](auto in) { return attention_weights(in[0], in[1], {}); }});
}

TEST(TrackedWeights, EndWithTheirScope) {
  const MultiHeadAttention layer({.embed = 8, .heads = 2});
  EXPECT_EQ(TrackedWeights::of(layer), nullptr);
  {
    const TrackedWeights outer(layer), inner(layer);
    EXPECT_EQ(TrackedWeights::of(layer), &inner);
  }
  EXPECT_EQ(TrackedWeights::of(layer), nullptr);
}

}  // namespace
}  // namespace heed::tracked_weights_test
