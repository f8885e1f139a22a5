// Average attention against its formula written as loops.
#include "heed/attention/variants/average.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/attention/variants/beams.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

// The mean of the first `n` positions of sequence b: [E].
Tensor mean_of_first(const Tensor& x, std::int64_t b, std::int64_t n) {
  Tensor total = zeros({x.size(2)}, x.dtype());
  for (std::int64_t t = 0; t < n; ++t) total = total + select(select(x, 0, b), 0, t);
  return n == 0 ? total : total / static_cast<double>(n);
}

// One position of the paper's formula: x_t and the average [E] -> [E].
Tensor one_position(const AverageAttention& layer, const Tensor& x, const Tensor& average) {
  const Tensor y = layer.feed_forward(unsqueeze(average, 0));                 // [1, E]
  const Tensor gates = sigmoid(layer.gate(concat({unsqueeze(x, 0), y}, 1)));  // [1, 2 E]
  const std::int64_t E = x.size(0);
  return squeeze(slice(gates, 1, 0, E) * x + slice(gates, 1, E, 2 * E) * y, 0);
}

TEST(AverageAttention, IsTheFormulaAtEveryPosition) {
  Generator generator(1);
  const AverageAttention layer({.embed = 6, .hidden = 10}, generator);
  const std::int64_t T = 5;
  const Tensor x = normal({2, T, 6}, 0.0, 1.0, generator);
  const std::vector<std::int64_t> lengths = {5, 3};
  for (const bool causal : {true, false}) {
    const Tensor y =
        layer({.x = x, .lengths = from_values({5L, 3L}, {2}), .causal = causal});  // [2, T, 6]
    for (std::int64_t b = 0; b < 2; ++b) {
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      for (std::int64_t t = 0; t < T; ++t) {
        const Tensor mean = mean_of_first(x, b, causal ? std::min(t + 1, length) : length);
        const Tensor expected = one_position(layer, select(select(x, 0, b), 0, t), mean);
        EXPECT_LT(test::max_relative_error(select(select(y, 0, b), 0, t), expected), 1e-6)
            << "causal " << causal << ", sequence " << b << ", position " << t;
      }
    }
  }
}

TEST(AverageAttention, WeightsAreEqual) {
  const AverageAttention layer({.embed = 4});
  const Tensor x = randn({1, 3, 4});
  EXPECT_EQ(test::weights_of(layer, {.x = x, .causal = true}).to_vector<float>(),
            (std::vector<float>{1, 0, 0, 0.5f, 0.5f, 0, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f}));
  const Tensor w = test::weights_of(layer, {.x = x, .lengths = from_values({2L}, {1})});
  EXPECT_EQ(w.to_vector<float>(),
            (std::vector<float>{0.5f, 0.5f, 0, 0.5f, 0.5f, 0, 0.5f, 0.5f, 0}));
}

TEST(AverageAttention, BeamsFollowTheirSequences) {
  const AverageAttention layer({.embed = 6, .hidden = 10});
  test::check_beams(layer, 6);
}

TEST(AverageAttention, WrongUseSaysWhatIsWrong) {
  const AverageAttention layer({.embed = 4});
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(
      error_message([&] {
        layer({.x = x, .memory = zeros({2, 5, 4})});
      }),
      "[average] a memory [2, 5, 4] is given: this layer attends to x itself; use one that takes a "
      "memory, such as multi_head");
  EXPECT_EQ(
      error_message([&] {
        layer.start({.batch = 2, .memory = zeros({2, 5, 4})});
      }),
      "[average] a memory [2, 5, 4] is given: this layer attends to x itself; use one that takes a "
      "memory, such as multi_head");
}

}  // namespace
}  // namespace heed
