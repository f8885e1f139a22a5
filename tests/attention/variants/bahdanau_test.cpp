#include "heed/attention/variants/bahdanau.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/tensor/create.h"

namespace heed {
namespace {

// W = U = 1 and v = 2: scores 2 tanh(x + h).
TEST(BahdanauAttention, AnExampleByHand) {
  BahdanauAttention layer({.embed = 1});
  layer.query->weight.data = ones({1, 1});
  layer.key->weight.data = ones({1, 1});
  layer.v = full({1}, 2.0);
  const Tensor x = full({1, 1, 1}, 0.5), h = from_values<float>({1, -1}, {1, 2, 1});
  const double first = std::exp(2.0 * std::tanh(1.5)), last = std::exp(2.0 * std::tanh(-0.5));
  EXPECT_NEAR(layer({.x = x, .memory = h}).item(), (first - last) / (first + last), 1e-6);
}

TEST(BahdanauAttention, HasTheParametersOfThePaper) {
  std::vector<std::string> shapes;
  const BahdanauAttention layer({.embed = 4, .memory_embed = 6, .hidden = 5});
  for (const auto& [name, tensor] : layer.named_parameters()) {
    shapes.push_back(name + " " + to_string(tensor.shape()));
  }
  EXPECT_THAT(shapes, testing::ElementsAre("query.weight [5, 4]", "key.weight [5, 6]", "v [5]"));
}

}  // namespace
}  // namespace heed
