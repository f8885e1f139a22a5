// Weights of steps that sequences share. decoding_steps_test.cpp compares those of searches with
// one pass over their results.
#include "heed/generation/step_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/create.h"

namespace heed::step_trace_test {
namespace {

std::shared_ptr<const StepTrace> step(std::shared_ptr<const StepTrace> before, std::int64_t row,
                                      const std::vector<float>& cross) {
  LayerWeights layer;
  layer.cross = from_values(std::span<const float>(cross), {2, 1, 1, 3});  // two rows, three keys
  const auto layers = std::make_shared<const std::vector<LayerWeights>>(1, layer);
  return std::make_shared<const StepTrace>(StepTrace{std::move(before), layers, row});
}

TEST(StepTrace, FollowsTheRowsOfASequence) {
  const auto first = step(nullptr, 1, {0, 0, 0, 1, 2, 3});
  Hypothesis a{.token_log_probabilities = {0, 0}}, b = a;
  a.trace = step(first, 0, {4, 5, 6, 0, 0, 0});
  b.trace = step(first, 1, {0, 0, 0, 7, 8, 9});
  const auto of_a = weights_of(a, 2), of_b = weights_of(b, 3);
  ASSERT_EQ(of_a.size(), 1u);
  EXPECT_FALSE(of_a[0].self.defined());
  EXPECT_THAT(of_a[0].cross.to_vector<float>(), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(of_b[0].cross.to_vector<float>(), testing::ElementsAre(1, 2, 3, 7, 8, 9));
}

}  // namespace
}  // namespace heed::step_trace_test
