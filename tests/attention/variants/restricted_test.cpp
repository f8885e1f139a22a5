#include "heed/attention/variants/restricted.h"

#include <gtest/gtest.h>

#include "heed/attention/masks/mask_fn.h"
#include "heed/base/arena.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

// Layers with the same parameters.
struct Pair {
  explicit Pair(const RestrictedConfig& config)
      : restricted([&] {
          Generator generator(7);
          return RestrictedAttention(config, generator);
        }()),
        plain([&] {
          Generator generator(7);
          return MultiHeadAttention(config.multi_head, generator);
        }()) {}
  RestrictedAttention restricted;
  MultiHeadAttention plain;
};

RestrictedConfig around(std::int64_t left, std::int64_t right) {
  return {.multi_head = {.embed = 12, .heads = 3}, .left = left, .right = right};
}

TEST(Restricted, SeesItsNeighbourhoodOnEachSide) {
  const Tensor x = randn({2, 40, 12});
  for (const auto& [left, right] : {std::pair{0, 0}, {3, 0}, {0, 5}, {2, 7}}) {
    const Pair layers(around(left, right));
    const Mask near =
        mask_fn([=](int, int, int i, int j) { return j >= i - left && j <= i + right; });
    EXPECT_LE(
        test::max_relative_error(layers.restricted({.x = x}), layers.plain({.x = x, .mask = near})),
        2e-6);
  }
}

TEST(Restricted, WithoutLimitsItIsMultiHead) {
  const Tensor x = randn({2, 20, 12});
  for (const auto& [left, right] : {std::pair{-1, -1}, {40, 19}}) {
    const Pair layers(around(left, right));
    EXPECT_LE(test::max_relative_error(layers.restricted({.x = x}), layers.plain({.x = x})), 2e-6);
  }
  const Pair past(around(-1, 0));
  EXPECT_TRUE(test::same_bits(past.restricted({.x = x}), past.plain({.x = x, .causal = true})));
}

TEST(Restricted, AnyNumberOfPositionsMayBeDecodedAtOnce) {
  const RestrictedAttention layer(around(5, 3));
  const Tensor x = randn({2, 300, 12});
  const Tensor whole = layer({.x = x, .causal = true});
  for (const std::int64_t most : {1, 63, 64, 65, 150, 300}) {
    const auto state = layer.start({.batch = 2});
    for (std::int64_t t = 0; t < 300; t += most) {
      const std::int64_t end = std::min<std::int64_t>(300, t + most);
      const Tensor y = layer.step(clone_data(view::slice(x, 1, t, end)), *state);
      ASSERT_LE(test::max_relative_error(y, clone_data(view::slice(whole, 1, t, end))), 1e-5)
          << most << " at once, from " << t;
    }
  }
}

TEST(Restricted, WeightsOfAStepAreCountedFromTheFirstKeptKey) {
  const RestrictedAttention layer(around(5, 0));
  const Tensor x = randn({2, 200, 12});
  const Tensor whole = test::weights_of(layer, {.x = x, .causal = true});  // [2, 3, 200, 200]
  const auto state = layer.start({.batch = 2});
  Tensor weights;
  state->weights = &weights;
  for (std::int64_t t = 0; t < 200; ++t) {
    layer.step(clone_data(view::slice(x, 1, t, t + 1)), *state);
    const std::int64_t kept = weights.size(3);
    ASSERT_EQ(weights.shape(), (Shape{2, 3, 1, kept}));
    ASSERT_TRUE(kept >= std::min<std::int64_t>(t + 1, 6) && kept <= t + 1) << t;
    const Tensor row = view::slice(view::slice(whole, 2, t, t + 1), 3, t + 1 - kept, t + 1);
    ASSERT_LE(test::max_relative_error(weights, clone_data(row)), 1e-5) << t;
  }
  EXPECT_LT(weights.size(3), 200) << "earlier keys are forgotten";
}

TEST(Restricted, DecodingKeepsOnlyWhatCanBeSeen) {
  const RestrictedAttention layer(around(5, 0));
  const auto state = layer.start({.batch = 1});
  const Tensor x = randn({1, 1, 12});
  const auto steps = [&](int n) {
    for (int i = 0; i < n; ++i) layer.step(x, *state);
    return arena::stats().bytes_live;
  };
  const auto before = steps(300);
  EXPECT_EQ(steps(3000), before);
}

TEST(Restricted, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { RestrictedAttention layer(around(-2, 3)); }),
            "[restricted] left -2, right 3: give a number of positions, or -1 for all");
  RestrictedConfig config = around(2, 2);
  config.multi_head.heads = 5;
  EXPECT_EQ(
      error_message([&] { RestrictedAttention layer(config); }),
      "[multi_head] embed 12 is not a multiple of heads 5: change one of them, or give head_size");
}

}  // namespace
}  // namespace heed
