#include "heed/attention/variants/global.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::global_test {
namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, DType::f64);
}

// The scores as the papers write them, [B, Tq, Tk].
Tensor plain_scores(const GlobalAttention& layer, AlignScore score, const Tensor& x,
                    const Tensor& h) {
  switch (score) {
    case AlignScore::dot:
      return matmul(x, transpose(h));
    case AlignScore::scaled_dot:
      return matmul(x, transpose(h)) / std::sqrt(static_cast<double>(x.size(2)));
    case AlignScore::general:
      return matmul(matmul(x, layer.weight), transpose(h));
    case AlignScore::additive: {
      const Tensor pairs = unsqueeze((*layer.query)(x), 2) + unsqueeze((*layer.key)(h), 1);
      return sum(tanh(pairs) * layer.v, {-1});
    }
    case AlignScore::location:
      return slice(matmul(x, transpose(layer.weight)), 2, 0, h.size(1));
  }
  return {};
}

TEST(GlobalAttention, EveryScoreIsThatOfItsPaper) {
  const Tensor x = drawn({2, 5, 6}, 1), h = drawn({2, 7, 6}, 2);
  for (const auto& [score, name] : enum_names(AlignScore{})) {
    for (const bool combine : {false, true}) {
      GlobalAttention layer(
          {.embed = 6, .score = score, .hidden = 9, .max_length = 8, .combine = combine});
      layer.to(DType::f64);
      const Tensor weights = softmax(plain_scores(layer, score, x, h));  // [B, Tq, Tk]
      const Tensor context = matmul(weights, h);                         // [B, Tq, E]
      const AttentionInput in{.x = x, .memory = h};
      const Tensor expected =
          combine ? tanh(matmul(concat({context, x}, -1), transpose(layer.combine->weight.data)))
                  : context;
      EXPECT_LE(test::max_relative_error(layer(in), expected), 1e-12) << name;
      EXPECT_LE(test::max_relative_error(test::weights_of(layer, in), unsqueeze(weights, 1)), 1e-12)
          << name;
    }
  }
}

// Scores 0 and ln 3: weights 1/4 and 3/4.
TEST(GlobalAttention, ADotProductByHand) {
  const GlobalAttention layer({.embed = 2, .score = AlignScore::dot});
  const auto ln3 = static_cast<float>(std::log(3.0));
  const Tensor x = from_values<float>({1, 1}, {1, 1, 2});
  const Tensor h = from_values<float>({1, -1, ln3, 0}, {1, 2, 2});
  const std::vector<float> y = layer({.x = x, .memory = h}).to_vector<float>();
  EXPECT_NEAR(y[0], 0.25 + 0.75 * std::log(3.0), 1e-6);
  EXPECT_NEAR(y[1], -0.25, 1e-6);
}

TEST(GlobalAttention, AMemoryOfAnotherSize) {
  const Tensor x = drawn({2, 3, 4}, 1), h = drawn({2, 5, 6}, 2);
  for (const AlignScore score : {AlignScore::general, AlignScore::additive, AlignScore::location}) {
    GlobalAttention layer({.embed = 4, .memory_embed = 6, .score = score});
    layer.to(DType::f64);
    const Tensor expected = matmul(softmax(plain_scores(layer, score, x, h)), h);
    EXPECT_LE(test::max_relative_error(layer({.x = x, .memory = h}), expected), 1e-12);
    GlobalAttention combined({.embed = 4, .memory_embed = 6, .score = score, .combine = true});
    combined.to(DType::f64);
    EXPECT_EQ(combined({.x = x, .memory = h}).shape(), x.shape());
  }
}

TEST(GlobalAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message(
                [] { GlobalAttention({.embed = 4, .memory_embed = 6, .score = AlignScore::dot}); }),
            "[global] embed 4 and memory_embed 6: dot products need equal sizes, score=general "
            "does not");
  const auto layer = make_attention("global", {"embed=4", "score=location", "max_length=5"});
  const Tensor x = zeros({1, 2, 4});
  const std::string too_long =
      "[global] the memory has 6 positions, the location score knows 5: make the layer with a "
      "greater max_length";
  EXPECT_EQ(error_message([&] { (*layer)({.x = x, .memory = zeros({1, 6, 4})}); }), too_long);
  const auto state = layer->start({.batch = 1});
  layer->step(zeros({1, 4, 4}), *state);
  EXPECT_EQ(error_message([&] { layer->step(x, *state); }), too_long);
  EXPECT_EQ(error_message([&] {
              layer->start({.memory = zeros({1, 3, 5})});
            }),
            "[global] memory is [1, 3, 5]: it must be [1, Tk, 4]");
  const auto other = make_attention("multi_head", {"embed=4"})->start({.batch = 1});
  EXPECT_EQ(error_message([&] { layer->step(x, *other); }),
            "[global] the state is another layer's: give what start() returned");
  EXPECT_THAT(error_message([] { make_attention("global", {"score=concat"}); }),
              testing::HasSubstr("additive"));
}

}  // namespace
}  // namespace heed::global_test
