// LayerNorm and RmsNorm against PyTorch, alone and with the residual sum.
#include "heed/nn/norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::check_golden;
using test::Golden;
using test::Named;

template <typename Layer, typename Config>
void check_norm(const std::string& name, Config config) {
  check_golden(name, [&](const Golden& g) -> Named {
    config.eps = g.number("eps");
    Layer layer(config);
    test::take_parameters(layer, g);
    if (!g.has("r")) return {{"y", layer(g["x"])}};
    const NormResidual result = layer(g["x"], g["r"]);
    if (!name.ends_with("_sum")) return {{"y", result.y}};
    return {{"y", result.y}, {"sum", result.sum}};
  });
}

TEST(LayerNorm, Golden) {
  check_norm<LayerNorm>("layer_norm", LayerNormConfig{.size = 17});
  check_norm<LayerNorm>("layer_norm_no_bias", LayerNormConfig{.size = 17, .bias = false});
  check_norm<LayerNorm>("layer_norm_no_affine",
                        LayerNormConfig{.size = 17, .weight = false, .bias = false});
  check_norm<LayerNorm>("layer_norm_residual", LayerNormConfig{.size = 13});
  check_norm<LayerNorm>("layer_norm_residual_sum", LayerNormConfig{.size = 13});
}

TEST(RmsNorm, Golden) {
  check_norm<RmsNorm>("rms_norm", RmsNormConfig{.size = 17});
  check_norm<RmsNorm>("rms_norm_no_affine", RmsNormConfig{.size = 17, .weight = false});
  check_norm<RmsNorm>("rms_norm_residual", RmsNormConfig{.size = 13});
  check_norm<RmsNorm>("rms_norm_residual_sum", RmsNormConfig{.size = 13});
}

TEST(Norms, RefuseWrongSizes) {
  EXPECT_THAT(error_message([] { LayerNorm({}); }), testing::HasSubstr("size 0"));
  const RmsNorm layer({.size = 5, .weight = false});
  EXPECT_THAT(error_message([&] {
                layer(zeros({2, 6}));
              }),
              testing::HasSubstr("x [2, 6]: the last size must be 5"));
}

}  // namespace
}  // namespace heed
