// The running averages of batch normalisation: what they follow, when they are used, and that they
// are saved but not trained.
#include "heed/nn/batch_norm.h"

#include <gtest/gtest.h>

#include "heed/nn/checkpoint_file.h"
#include "heed/ops/batch_norm.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::batch_norm_layer_test {
namespace {

TEST(BatchNormLayer, FollowsTheBatchesInTraining) {
  BatchNorm norm({.channels = 1, .momentum = 0.5});
  // Mean 3, variance 5 divided by n, 20/3 divided by n - 1.
  norm(from_values<float>({0, 2, 4, 6}, {2, 1, 2}));
  EXPECT_FLOAT_EQ(norm.running_mean.to_vector<float>()[0], 1.5f);
  EXPECT_FLOAT_EQ(norm.running_var.to_vector<float>()[0], 0.5f + 0.5f * 20.0f / 3.0f);
}

TEST(BatchNormLayer, NormalisesWithItsAveragesInEvaluation) {
  Generator generator(3);
  const Tensor x = normal({5, 2, 3, 3}, 1.0, 2.0, generator);
  BatchNorm norm({.channels = 2});
  for (int i = 0; i < 3; ++i) norm(x);
  norm.eval();
  const Tensor mean = norm.running_mean, variance = norm.running_var;
  const std::vector<float> before = mean.to_vector<float>();
  const Tensor y = norm(x);
  EXPECT_EQ(mean.to_vector<float>(), before) << "evaluation changes nothing";
  EXPECT_TRUE(test::same_bits(
      y,
      batch_norm(x, {.weight = norm.weight, .bias = norm.bias, .mean = mean, .variance = variance})
          .y));
}

TEST(BatchNormLayer, AveragesAreSavedAndNeverTrained) {
  BatchNorm norm({.channels = 3}), other({.channels = 3});
  Generator generator(4);
  norm(normal({4, 3, 2}, 1.0, 2.0, generator));
  const TempDir dir;
  save_parameters(norm, dir / "norm");
  load_parameters(other, dir / "norm");
  EXPECT_EQ(other.running_mean.to_vector<float>(), norm.running_mean.to_vector<float>());
  EXPECT_EQ(other.running_var.to_vector<float>(), norm.running_var.to_vector<float>());
  norm.requires_grad(true);
  ASSERT_EQ(norm.buffers().size(), 2u);
  EXPECT_EQ(norm.buffers()[0].name, "running_mean");
  for (const NamedTensor& buffer : norm.buffers()) EXPECT_FALSE(buffer.tensor.tracks_grad());
  EXPECT_TRUE(norm.weight.tracks_grad());
}

}  // namespace
}  // namespace heed::batch_norm_layer_test
