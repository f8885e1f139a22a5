#include "heed/attention/hard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/isa_guard.h"
#include "tests/support/op_case.h"

namespace heed::hard_test {
namespace {

using test::same_bits;

Tensor drawn(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  Generator generator(seed);
  return cast_data(normal(shape, 0.0, 1.0, generator), dtype);
}

// Many identical queries: their sampled keys follow their common weights.
TEST(HardAttention, KeysAreDrawnAsOftenAsSoftmaxSays) {
  constexpr std::int64_t kDraws = 20000, kKeys = 12;
  const Tensor k = drawn({1, 1, kKeys, 4}, 2), v = drawn({1, 1, kKeys, 3}, 3);
  const Tensor q = contiguous_copy(view::expand(drawn({1, 1, 1, 4}, 1), {1, 1, kDraws, 4}));
  Tensor weights;
  attention(view::slice(q, 2, 0, 1), k, v, {.observers = {observe_weights(weights)}});
  const HardAttention hard = hard_attention(q, k, v, {}, {11, 5});
  std::vector<double> counts(kKeys);
  for (const std::int64_t j : hard.index.to_vector<std::int64_t>()) {
    counts.at(static_cast<std::size_t>(j)) += 1.0;
  }
  double chi_square = 0.0;
  for (std::size_t j = 0; j < kKeys; ++j) {
    const double expected = kDraws * static_cast<double>(weights.to_vector<float>()[j]);
    chi_square += (counts[j] - expected) * (counts[j] - expected) / expected;
  }
  EXPECT_LT(chi_square, 31.3);  // 11 degrees of freedom: one in a thousand is above
  EXPECT_GT(chi_square, 1.0);   // and one in ten thousand so close
}

TEST(HardAttention, LogProbIsThatOfSoftmaxAtTheIndex) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Tensor q = drawn({2, 4, 13, 6}, 1, dtype), k = drawn({2, 2, 17, 6}, 2, dtype);
    const Tensor v = drawn({2, 2, 17, 3}, 3, dtype);
    Tensor weights;
    const AttentionSpec spec{.modifiers = {soft_cap(2.0)},
                             .mask = causal() & key_lengths({17, 9}),
                             .observers = {observe_weights(weights)}};
    attention(q, k, v, spec);
    const HardAttention hard =
        hard_attention(q, k, v, {spec.score, spec.modifiers, spec.mask}, {3, 1});
    const std::vector<double> w = cast_data(weights, DType::f64).to_vector<double>();
    const std::vector<double> y = cast_data(hard.output, DType::f64).to_vector<double>();
    const std::vector<double> values = cast_data(v, DType::f64).to_vector<double>();
    const std::vector<double> log_prob = cast_data(hard.log_prob, DType::f64).to_vector<double>();
    const std::vector<std::int64_t> index = hard.index.to_vector<std::int64_t>();
    const double tolerance = dtype == DType::f64 ? 1e-12 : 5e-6;
    for (std::size_t row = 0; row < index.size(); ++row) {
      const auto j = static_cast<std::size_t>(index[row]);
      EXPECT_NEAR(log_prob[row], std::log(w[row * 17 + j]), tolerance);
      const std::size_t kv_head = row / 13 / 4 * 2 + row / 13 % 4 / 2;
      EXPECT_NEAR(y[row * 3 + 1], values[(kv_head * 17 + j) * 3 + 1], 1e-6);
    }
  }
}

TEST(HardAttention, ARowWithoutVisibleKeysSamplesNothing) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    Tensor q = drawn({2, 1, 4, 6}, 1, dtype).requires_grad();
    const Tensor k = drawn({2, 1, 5, 6}, 2, dtype), v = drawn({2, 1, 5, 3}, 3, dtype);
    const HardAttention hard = hard_attention(q, k, v, {.mask = key_lengths({0, 5})}, {3, 1});
    const auto first = [](const Tensor& x) { return view::select(x, 0, 0); };
    EXPECT_TRUE(same_bits(first(hard.index), full({1, 4}, -1, DType::i64)));
    EXPECT_TRUE(same_bits(first(hard.log_prob), zeros({1, 4}, dtype)));
    EXPECT_TRUE(same_bits(first(hard.output), zeros({1, 4, 3}, dtype)));
    sum(hard.log_prob).backward();
    EXPECT_TRUE(same_bits(first(q.grad()), zeros({1, 4, 6}, dtype)));
    for (const std::int64_t j : view::select(hard.index, 0, 1).to_vector<std::int64_t>()) {
      EXPECT_TRUE(j >= 0 && j < 5);
    }
  }
}

TEST(HardAttention, TheGradientOfLogProbIsThatOfDifferences) {
  std::vector<Tensor> inputs{drawn({1, 2, 3, 2}, 1, DType::f64), drawn({1, 1, 4, 2}, 2, DType::f64),
                             drawn({3, 4}, 4, DType::f64)};
  const Tensor v = drawn({1, 1, 4, 2}, 3, DType::f64);
  for (Tensor& x : inputs) x.requires_grad();
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> in) {
        const AttentionSpec spec{.modifiers = {dense_bias(in[2])},
                                 .mask = causal(Corner::offset(1))};
        return hard_attention(in[0], in[1], v, spec, {7, 0}).log_prob;
      },
      inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(HardAttention, TheSameStreamDrawsTheSameKeys) {
  const Tensor q = drawn({1, 4, 150, 8}, 1), k = drawn({1, 2, 300, 8}, 2);
  const Tensor v = drawn({1, 2, 300, 3}, 3);
  const auto draw = [&](RandomStream random) { return hard_attention(q, k, v, {}, random); };
  const HardAttention first = draw({5, 2});
  const int before = num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    const HardAttention again = draw({5, 2});
    EXPECT_TRUE(same_bits(again.index, first.index)) << threads << " threads";
    EXPECT_TRUE(same_bits(again.output, first.output)) << threads << " threads";
    EXPECT_TRUE(same_bits(again.log_prob, first.log_prob)) << threads << " threads";
  }
  set_num_threads(before);
  test::for_each_isa([&](Isa isa) {
    EXPECT_TRUE(same_bits(draw({5, 2}).index, first.index)) << name_of(isa);
  });
  const auto wide = [](const Tensor& x) { return cast_data(x, DType::f64); };
  EXPECT_TRUE(same_bits(hard_attention(wide(q), wide(k), wide(v), {}, {5, 2}).index, first.index));
  EXPECT_FALSE(same_bits(draw({5, 3}).index, first.index));
  EXPECT_FALSE(same_bits(draw({6, 2}).index, first.index));
}

TEST(HardAttention, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 1, 2, 3});
  EXPECT_EQ(error_message([&] {
              hard_attention(x, x, x, {.normaliser = sigmoid_weights()}, {1, 1});
            }),
            "[hard_attention] spec.normaliser is sigmoid_weights: it must be softmax_weights, the "
            "default");
}

}  // namespace
}  // namespace heed::hard_test
