#include "heed/attention/variants/hard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/op_case.h"

namespace heed::hard_test {
namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator);
}

// The states at index [B, Tq].
Tensor states_at(const Tensor& h, const Tensor& index) {
  const Shape shape{index.size(0), index.size(1), h.size(2)};
  return gather(h, 1, contiguous_copy(view::expand(view::unsqueeze(index, 2), shape)));
}

class HardLayer : public testing::Test {
 protected:
  GlobalConfig soft_{.embed = 6, .score = AlignScore::additive};
  Generator generator_{4};
  HardAttentionLayer layer_{{.global = soft_}, generator_};
  AttentionInput in_{.x = drawn({2, 9, 6}, 1), .memory = drawn({2, 7, 6}, 2)};
};

TEST_F(HardLayer, InUseItReadsTheLikeliestState) {
  Generator same(4);
  const GlobalAttention soft(soft_, same);
  const Tensor best = argmax(squeeze(test::weights_of(soft, in_), 1));  // [B, Tq]
  layer_.eval();
  EXPECT_LE(test::max_relative_error(layer_(in_), states_at(in_.memory, best)), 1e-6);
  EXPECT_LE(test::max_relative_error(max(test::weights_of(layer_, in_), {-1}), ones({2, 1, 9})),
            1e-6);
}

TEST_F(HardLayer, InTrainingItReadsOneThatIsDrawn) {
  const auto run = [&](std::uint64_t seed) {
    default_generator() = Generator(seed);
    return layer_(in_);
  };
  EXPECT_TRUE(test::same_bits(run(1), run(1)));
  EXPECT_FALSE(test::same_bits(run(1), run(2)));
  layer_.eval();
  EXPECT_TRUE(test::same_bits(run(1), run(2)));
  HardAttentionLayer always({.global = {.embed = 6}, .sample = true});
  always.eval();
  default_generator() = Generator(1);
  const Tensor first = always(in_);
  EXPECT_FALSE(test::same_bits(always(in_), first));
}

TEST_F(HardLayer, ADrawSaysWhatItReadAndHowLikelyThatWas) {
  Generator same(4);
  const GlobalAttention soft(soft_, same);
  const Tensor p = squeeze(test::weights_of(soft, in_), 1);  // [B, Tq, Tk]
  const HardDraw draw = layer_.draw(in_, {7, 1});
  EXPECT_LE(test::max_relative_error(draw.output, states_at(in_.memory, draw.index)), 1e-6);
  const Tensor chance = squeeze(gather(p, 2, view::unsqueeze(draw.index, 2)), 2);  // [B, Tq]
  EXPECT_LE(test::max_relative_error(draw.log_prob, log(chance)), 5e-6);
  EXPECT_LE(test::max_relative_error(draw.entropy, -sum(p * log(p), {-1})), 5e-6);
  EXPECT_TRUE(test::same_bits(layer_.draw(in_, {7, 1}).index, draw.index));
  EXPECT_FALSE(test::same_bits(layer_.draw(in_, {7, 2}).index, draw.index));
}

TEST_F(HardLayer, WhereNothingIsSeenNothingIsDrawn) {
  in_.lengths = from_values<std::int64_t>({0, 3}, {2});
  const HardDraw draw = layer_.draw(in_, {7, 1});
  const auto first = [](const Tensor& x) { return clone_data(view::select(x, 0, 0)); };
  EXPECT_TRUE(test::same_bits(first(draw.index), full({9}, -1, DType::i64)));
  EXPECT_TRUE(test::same_bits(first(draw.output), zeros({9, 6})));
  EXPECT_TRUE(test::same_bits(first(draw.log_prob), zeros({9})));
  EXPECT_TRUE(test::same_bits(first(draw.entropy), zeros({9})));
  for (const std::int64_t j : view::select(draw.index, 0, 1).to_vector<std::int64_t>()) {
    EXPECT_TRUE(j >= 0 && j < 3);
  }
}

TEST_F(HardLayer, TheResultTeachesOnlyWhatWasRead) {
  in_.x.requires_grad();
  in_.memory.requires_grad();
  const HardDraw draw = layer_.draw(in_, {7, 1});
  sum(draw.output).backward();
  EXPECT_TRUE(!in_.x.grad().defined() || test::same_bits(in_.x.grad(), zeros({2, 9, 6})));
  std::vector<float> reads(14);
  std::size_t row = 0;
  for (const std::int64_t j : draw.index.to_vector<std::int64_t>()) {
    reads[row++ / 9 * 7 + static_cast<std::size_t>(j)] += 1.0f;
  }
  const Tensor expected = from_values(std::span<const float>(reads), {2, 7});
  EXPECT_LE(test::max_relative_error(clone_data(view::select(in_.memory.grad(), 2, 0)), expected),
            1e-6);
}

}  // namespace
}  // namespace heed::hard_test
