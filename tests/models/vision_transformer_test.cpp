// The Vision Transformer: patches as tokens.
#include "heed/models/vision_transformer.h"

#include "heed/tensor/copy.h"
#include "tests/models/picture_case.h"

namespace heed::vision_transformer_test {
namespace {

using testing::HasSubstr;

VisionTransformerConfig small() {
  VisionTransformerConfig config{.sizes = test::kPictureSizes, .patch = 4, .layers = 2};
  config.block.embed = 8;
  config.block.heads = 2;
  config.block.hidden = 12;
  return config;
}

TEST(VisionTransformer, DoesWhatEveryModelOfPicturesDoes) {
  VisionTransformer model(small());
  test::expect_scores(model);
  model.position.reset();  // most of its rows are for longer sequences and get no gradient
  test::expect_every_parameter_learns(model);
  test::expect_independent(model);
}

TEST(VisionTransformer, WeightsOfAttentionComeOut) {
  std::vector<LayerWeights> weights;
  const VisionTransformer model(small());
  model(test::some_pictures(2), &weights);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[1].self.shape(), (Shape{2, 2, 6, 6})) << "2 x 3 patches";
}

// Exchanges the pixels of the patch at the upper left with those of the one at the lower right.
Tensor with_exchanged_patches(const Tensor& x) {
  Tensor y = clone_data(x);
  for (std::int64_t line = 0; line < 3 * 8; ++line) {
    if (line % 8 >= 4) continue;
    float* const upper = y.mutable_data<float>() + line * 12;
    std::swap_ranges(upper, upper + 4, upper + 4 * 12 + 8);
  }
  return y;
}

TEST(VisionTransformer, PatchesWithoutPositionsAreABag) {
  const NoGrad no_grad;
  VisionTransformerConfig config = small();
  config.block.positions = "none";
  VisionTransformer model(config), with_positions(small());
  model.eval();
  with_positions.eval();
  const Tensor x = test::some_pictures(1), y = with_exchanged_patches(x);
  EXPECT_LE(test::max_relative_error(model(y), model(x)), 1e-5);
  EXPECT_GT(test::max_relative_error(with_positions(y), with_positions(x)), 1e-4);
  Tensor torn = clone_data(x);  // pixels of two patches are exchanged
  std::swap(torn.mutable_data<float>()[0], torn.mutable_data<float>()[4]);
  EXPECT_GT(test::max_relative_error(model(torn), model(x)), 1e-5);
}

TEST(VisionTransformer, ConfigsThatDoNotFit) {
  VisionTransformerConfig config = small();
  config.patch = 5;
  EXPECT_THAT(error_message([&] { VisionTransformer{config}; }),
              HasSubstr("give a patch that divides both"));
  config = small();
  config.block.positions = "learned max_length=5";
  EXPECT_THAT(error_message([&] { VisionTransformer{config}; }), HasSubstr("max_length=6"));
}

}  // namespace
}  // namespace heed::vision_transformer_test
