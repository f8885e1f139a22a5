// Feed-forward layers against PyTorch.
#include "heed/nn/feed_forward.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/nn/golden_module.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::Golden;
using test::Named;

TEST(FeedForward, Golden) {
  const std::pair<const char*, Activation> goldens[] = {
      {"feed_forward_relu", Activation::relu},
      {"feed_forward_gelu", Activation::gelu},
      {"feed_forward_gelu_tanh", Activation::gelu_tanh},
      {"feed_forward_silu", Activation::silu}};
  for (const auto& [name, activation] : goldens) {
    const FeedForwardConfig config{.size = 7, .hidden = 17, .activation = activation};
    test::check_golden(name, [&](const Golden& g) -> Named {
      FeedForward layer(config);
      test::take_parameters(layer, g);
      return {{"y", layer(g["x"])}};
    });
  }
}

TEST(GatedFeedForward, Golden) {
  test::check_golden("feed_forward_swiglu", [](const Golden& g) -> Named {
    GatedFeedForward layer({.size = 7, .hidden = 17});
    test::take_parameters(layer, g);
    return {{"y", layer(g["x"])}};
  });
}

template <typename Layer>
void check_dropout(Layer layer) {
  const Tensor x = randn({3, 7});
  EXPECT_FALSE(test::same_bits(layer(x), layer(x))) << "two masks";
  layer.eval();
  EXPECT_TRUE(test::same_bits(layer(x), layer(x)));
}

TEST(FeedForward, DropsOnlyWhileTraining) {
  check_dropout(FeedForward({.size = 7, .hidden = 17, .dropout = 0.5}));
  check_dropout(GatedFeedForward({.size = 7, .hidden = 17, .dropout = 0.5}));
}

}  // namespace
}  // namespace heed
