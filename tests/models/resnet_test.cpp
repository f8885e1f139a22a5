// The residual network, plain and with each form of a non-local block.
#include "heed/models/resnet.h"

#include "heed/tensor/copy.h"
#include "tests/models/picture_case.h"

namespace heed::resnet_test {
namespace {

using testing::HasSubstr;

ResNetConfig small(const std::string& attention = "") {
  ResNetConfig config{.sizes = test::kPictureSizes, .stem = 4, .blocks = 1, .attention = {}};
  if (!attention.empty()) config.attention = attention;
  return config;
}

TEST(ResNet, DoesWhatEveryModelOfPicturesDoes) {
  for (const char* attention : {"", "non_local form=gaussian", "non_local form=embedded_gaussian",
                                "non_local form=dot", "non_local form=concat"}) {
    ResNet model(small(attention));
    test::expect_scores(model);
    test::expect_every_parameter_learns(model);
    test::expect_independent(model);
  }
}

TEST(ResNet, ANewNonLocalBlockChangesNothing) {
  Generator generator(1), same(1);
  ResNet with(small("non_local"), generator), without(small(), same);
  const NoGrad no_grad;
  for (const NamedTensor& parameter : without.named_parameters()) {
    for (const NamedTensor& other : with.named_parameters()) {
      Tensor to = other.tensor;
      if (other.name == parameter.name) copy_into(to, parameter.tensor);
    }
  }
  const Tensor x = test::some_pictures(3);
  EXPECT_LE(test::max_relative_error(with(x), without(x)), 1e-6);
}

TEST(ResNet, WeightsOfAttentionComeOut) {
  std::vector<LayerWeights> weights;
  const ResNet plain(small()), with_attention(small("non_local"));
  plain(test::some_pictures(2), &weights);
  EXPECT_TRUE(weights.empty());
  with_attention(test::some_pictures(2), &weights);
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0].self.shape(), (Shape{2, 1, 24, 24})) << "4 x 6 places at half size";
}

TEST(ResNet, ConfigsThatDoNotFit) {
  EXPECT_THAT(error_message([] { ResNet(small("multi_head")); }),
              HasSubstr("does not read pictures"));
  EXPECT_THAT(error_message([] { ResNet(ResNetConfig{}); }), HasSubstr("give all sizes"));
}

}  // namespace
}  // namespace heed::resnet_test
