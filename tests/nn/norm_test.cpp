// LayerNorm and RmsNorm against PyTorch, alone and with the residual sum.
#include "heed/nn/norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/tensor/create.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::norm_test {
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

// Gives the parameters of both modules the same values, other than the first ones.
void share_values(Module& a, Module& b) {
  Generator generator(3);
  const std::vector<Tensor> from = a.parameters(), to = b.parameters();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t p = 0; p < from.size(); ++p) {
    const Tensor values = normal(from[p].shape(), 1.0, 0.5, generator);
    for (const Tensor* const x : {&from[p], &to[p]}) {
      Tensor parameter = *x;
      std::ranges::copy(values.values<float>(), parameter.mutable_data<float>());
    }
  }
}

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& named : module.named_parameters()) names.push_back(named.name);
  return names;
}

// The same bits from both: norm, norm of a sum, that sum, and the gradients.
template <typename Layer>
void expect_same(Norm norm, Layer layer) {
  share_values(norm, layer);
  const Tensor x = randn({3, 17}), r = randn({3, 17});
  const Tensor down = randn({3, 17});
  EXPECT_TRUE(test::same_bits(norm(x), layer(x)));
  const NormResidual a = norm(x, r), b = layer(x, r);
  EXPECT_TRUE(test::same_bits(a.y, b.y));
  EXPECT_TRUE(test::same_bits(a.sum, b.sum));
  backward(a.y, down);
  backward(b.y, down);
  const std::vector<Tensor> of_norm = norm.parameters(), of_layer = layer.parameters();
  for (std::size_t p = 0; p < of_norm.size(); ++p) {
    EXPECT_TRUE(test::same_bits(of_norm[p].grad(), of_layer[p].grad())) << p;
  }
}

TEST(Norm, IsALayerNorm) {
  expect_same(Norm({.size = 17}), LayerNorm({.size = 17}));
  expect_same(Norm({.size = 17, .eps = 0.1}), LayerNorm({.size = 17, .eps = 0.1}));
  expect_same(Norm({.size = 17, .bias = false}), LayerNorm({.size = 17, .bias = false}));
}

TEST(Norm, IsAnRmsNorm) {
  expect_same(Norm({.kind = NormKind::rms, .size = 17}), RmsNorm({.size = 17, .eps = 1e-5}));
  expect_same(Norm({.kind = NormKind::rms, .size = 17, .eps = 0.1}),
              RmsNorm({.size = 17, .eps = 0.1}));
}

TEST(Norm, HasTheNamesOfItsKind) {
  using testing::ElementsAre;
  EXPECT_THAT(names_of(Norm({.size = 5})), ElementsAre("weight", "bias"));
  EXPECT_THAT(names_of(Norm({.size = 5, .bias = false})), ElementsAre("weight"));
  EXPECT_THAT(names_of(Norm({.kind = NormKind::rms, .size = 5})), ElementsAre("weight"))
      << "RmsNorm has no bias, whatever the config says";
}

TEST(Norms, RefuseWrongSizes) {
  EXPECT_THAT(error_message([] { Norm({}); }), testing::HasSubstr("[layer_norm] size 0"));
  EXPECT_THAT(error_message([] { Norm({.kind = NormKind::rms}); }),
              testing::HasSubstr("[rms_norm] size 0"));
  EXPECT_THAT(error_message([] { LayerNorm({}); }), testing::HasSubstr("size 0"));
  const RmsNorm layer({.size = 5, .weight = false});
  EXPECT_THAT(error_message([&] {
                layer(zeros({2, 6}));
              }),
              testing::HasSubstr("x [2, 6]: the last size must be 5"));
}

}  // namespace
}  // namespace heed::norm_test
