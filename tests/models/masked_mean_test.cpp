// The mean over the valid positions of texts of different lengths.
#include "heed/models/masked_mean.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/autograd/gradcheck.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"

namespace heed::masked_mean_test {
namespace {

using test::lengths_of;
using testing::ElementsAre;

TEST(MaskedMean, IsTheMeanOfTheFirstPositions) {
  const Tensor x = from_values<float>({1, 2, 3, 4, 5, 6,     //
                                       7, 8, 9, 10, 11, 12,  //
                                       1, 1, 2, 2, 3, 3},
                                      {3, 3, 2});
  const Tensor y = masked_mean(x, lengths_of({3, 1, 2}));
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(3, 4, 7, 8, 1.5, 1.5));
}

TEST(MaskedMean, WithoutLengthsItIsTheMeanOfAll) {
  const Tensor x = randn({3, 5, 4});
  EXPECT_LE(test::max_relative_error(masked_mean(x, {}), masked_mean(x, lengths_of({5, 5, 5}))),
            1e-6);
  EXPECT_LE(test::max_relative_error(masked_mean(x, {}), mean(x, {1})), 1e-6);
}

TEST(MaskedMean, OfNoPositionsIsZero) {
  const Tensor y = masked_mean(randn({2, 3, 2}), lengths_of({0, 3}));
  EXPECT_EQ(y.data<float>()[0], 0.0f);
  EXPECT_EQ(y.data<float>()[1], 0.0f);
  EXPECT_NE(y.data<float>()[2], 0.0f);
}

// Positions after the end may hold anything.
TEST(MaskedMean, DoesNotReadPadding) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor x = from_values<float>({1, 2, kNan, kInfinity}, {2, 2, 1});
  EXPECT_THAT(masked_mean(x, lengths_of({2, 0})).to_vector<float>(), ElementsAre(1.5, 0));
}

TEST(MaskedMean, GradientsGoToValidPositions) {
  Tensor x = randn({2, 3, 2}, DType::f64);
  x.requires_grad();
  const Tensor lengths = lengths_of({3, 2});
  const GradCheckResult result =
      gradcheck([&](std::span<const Tensor> in) { return masked_mean(in[0], lengths); }, {{x}});
  EXPECT_TRUE(result.ok) << result.message;
  sum(masked_mean(x, lengths)).backward();
  const std::vector<double> gradient = x.grad().to_vector<double>();
  EXPECT_DOUBLE_EQ(gradient[0], 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(gradient[6], 0.5);
  EXPECT_EQ(gradient[10], 0.0);
}

}  // namespace
}  // namespace heed::masked_mean_test
