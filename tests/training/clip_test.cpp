// The global gradient norm and its scale.
#include "heed/training/clip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Clip, NormOfAllAndItsScale) {
  Tensor a = zeros({2, 2}).requires_grad();
  Tensor b = zeros({1}).requires_grad();
  Tensor without = zeros({3}).requires_grad();
  Tensor frozen = zeros({3});
  a.set_grad(from_values<float>({1, 2, 2, 4}, {2, 2}));
  b.set_grad(from_values<float>({12}, {1}));
  const std::array parameters = {a, without, frozen, b};
  const ClippedGradient half = clip(parameters, 6.5);
  EXPECT_DOUBLE_EQ(half.norm, 13.0);
  EXPECT_DOUBLE_EQ(half.scale, 6.5 / (13.0 + 1e-6));
  EXPECT_EQ(clip(parameters, 20.0).scale, 1.0);
  EXPECT_EQ(clip(parameters, std::numeric_limits<double>::infinity()).scale, 1.0);
  EXPECT_EQ(a.grad().to_vector<float>(), std::vector<float>({1, 2, 2, 4})) << "only read";
}

TEST(Clip, StridedAndDoubleGradients) {
  Tensor a = zeros({2, 2}, DType::f64).requires_grad();
  const Tensor values = from_values<double>({3, 100, 0, 100, 4, 100, 0, 100}, {8});
  a.set_grad(Tensor(values.storage(), DType::f64, {2, 2}, {4, 2}, 0));
  EXPECT_DOUBLE_EQ(clip(std::array{a}, 1.0).norm, 5.0);
}

TEST(Clip, SmallGradientsDoNotVanishBesideLargeOnes) {
  constexpr std::int64_t kCount = 1 << 20;
  Tensor many = zeros({kCount}).requires_grad();
  many.set_grad(full({kCount}, 1e-4));
  Tensor one = zeros({1}).requires_grad();
  one.set_grad(full({1}, 10.0));
  const double expected = std::sqrt(100.0 + kCount * 1e-8);
  EXPECT_NEAR(clip(std::array{one, many}, 1.0).norm, expected, 1e-9 * expected);
}

TEST(Clip, NonFiniteGradientsShow) {
  Tensor a = zeros({2}).requires_grad();
  a.set_grad(from_values<float>({1, std::numeric_limits<float>::quiet_NaN()}, {2}));
  EXPECT_TRUE(std::isnan(clip(std::array{a}, 1.0).norm));
}

TEST(Clip, RefusesABadLimit) {
  EXPECT_THAT(error_message([] { clip({}, 0.0); }), testing::HasSubstr("max_norm 0"));
  EXPECT_EQ(clip({}, 1.0).norm, 0.0);
}

}  // namespace
}  // namespace heed
