// The glimpse sensor: pixels by hand, borders, scales against a plain loop, gradients, messages.
#include "heed/ops/glimpse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::glimpse_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;

// Pixels 0, 1, 2, … of one picture of 4 x 6.
Tensor counted() {
  std::vector<float> pixels(24);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
  return from_values(std::span<const float>(pixels), {1, 1, 4, 6});
}

std::vector<float> patch_at(double down, double right, const GlimpseOptions& options) {
  const Tensor at = from_values<double>({down, right}, {1, 2});
  return glimpse(counted(), at, options).to_vector<float>();
}

TEST(Glimpse, HasThePixelsAroundALocation) {
  EXPECT_THAT(patch_at(0, 0, {.patch = 2}), ElementsAre(8, 9, 14, 15)) << "the middle";
  EXPECT_THAT(patch_at(-0.5, 1.0 / 3.0, {.patch = 2}), ElementsAre(3, 4, 9, 10));
  EXPECT_THAT(patch_at(0.5, -2.0 / 3.0, {.patch = 2}), ElementsAre(12, 13, 18, 19));
}

TEST(Glimpse, RepeatsTheBorderOutsideThePicture) {
  EXPECT_THAT(patch_at(-1, -1, {.patch = 2}), Each(0));
  EXPECT_THAT(patch_at(1, 1, {.patch = 2}), Each(23));
  EXPECT_THAT(patch_at(-7, 0, {.patch = 2}), ElementsAre(2, 3, 2, 3)) << "moved to the border";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(patch_at(nan, 0, {.patch = 2}), patch_at(0, 0, {.patch = 2}));
  EXPECT_EQ(patch_at(INFINITY, 0, {.patch = 2}), patch_at(1, 0, {.patch = 2}));
}

TEST(Glimpse, ScalesAreMeansOfLargerPatches) {
  const std::int64_t B = 3, C = 2, H = 9, W = 7, P = 3;
  Generator generator(3);
  const Tensor x = normal({B, C, H, W}, 0.0, 1.0, generator);
  const Tensor at = uniform({B, 2}, -1.2, 1.2, generator);
  const Tensor y = glimpse(x, at, {.patch = P, .scales = 3});
  ASSERT_EQ(y.shape(), (Shape{B, 3, C, P, P}));
  const auto pixels = x.to_vector<float>(), places = at.to_vector<float>();
  const auto found = y.to_vector<float>();
  const auto begin = [](float place, std::int64_t side, std::int64_t size) {
    const double inside = std::clamp(static_cast<double>(place), -1.0, 1.0);
    return std::lround((inside + 1.0) / 2.0 * static_cast<double>(size) -
                       static_cast<double>(side) / 2.0);
  };
  std::size_t i = 0;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t s = 0; s < 3; ++s) {
      const std::int64_t times = std::int64_t{1} << s, side = P * times;
      const long top = begin(places[static_cast<std::size_t>(2 * b)], side, H);
      const long left = begin(places[static_cast<std::size_t>(2 * b + 1)], side, W);
      for (std::int64_t c = 0; c < C; ++c) {
        for (std::int64_t cell = 0; cell < P * P; ++cell, ++i) {
          double sum = 0.0;
          for (std::int64_t k = 0; k < times * times; ++k) {
            const std::int64_t row =
                std::clamp<std::int64_t>(top + cell / P * times + k / times, 0, H - 1);
            const std::int64_t column =
                std::clamp<std::int64_t>(left + cell % P * times + k % times, 0, W - 1);
            sum += pixels[static_cast<std::size_t>(((b * C + c) * H + row) * W + column)];
          }
          EXPECT_NEAR(found[i], sum / static_cast<double>(times * times), 1e-5) << i;
        }
      }
    }
  }
}

TEST(Glimpse, HasTheGradientOfThePicture) {
  const Tensor at = from_values<double>({-0.9, 0.3, 0.1, 0.2, 1.0, -0.4}, {3, 2});
  test::check_op({.name = "glimpse", .shapes = {{3, 2, 7, 9}}, .op = [&](auto in) {
                    return glimpse(in[0], at, {.patch = 3, .scales = 2});
                  }});
}

TEST(Glimpse, WeightsAreTheSharesOfThePixels) {
  const Tensor at = from_values<float>({0, 0, -1, -1}, {2, 2});
  const Tensor w = glimpse_weights(at, 4, 6, {.patch = 2});
  ASSERT_EQ(w.shape(), (Shape{2, 24}));
  const auto values = w.to_vector<float>();
  for (const std::size_t inside : {8u, 9u, 14u, 15u}) EXPECT_EQ(values[inside], 0.25f);
  EXPECT_EQ(values[7], 0.0f);
  EXPECT_EQ(values[24], 1.0f) << "all of a patch beyond the corner is the corner";
  EXPECT_THAT(sum(glimpse_weights(at, 4, 6, {.patch = 3, .scales = 3}), {1}).to_vector<float>(),
              Each(FloatNear(1.0f, 1e-5f)));
}

TEST(Glimpse, WrongUseSaysWhatIsWrong) {
  const Tensor x = zeros({2, 1, 4, 4});
  EXPECT_EQ(error_message([&] {
              glimpse(x, zeros({3, 2}));
            }),
            "[glimpse] locations are [3, 2]: they must be [2, 2], vertical and horizontal");
  EXPECT_EQ(error_message([&] {
              glimpse(x, zeros({2, 2}), {.patch = 0});
            }),
            "[glimpse] patches of 0 pixels in 1 scales: give at least 1 pixel, and 1 to 16 scales");
  EXPECT_EQ(error_message([&] {
              glimpse(zeros({2, 4, 4}), zeros({2, 2}));
            }),
            "[glimpse] pictures are [2, 4, 4]: they must be [B, C, H, W] with pixels");
  EXPECT_EQ(glimpse(zeros({0, 1, 4, 4}), zeros({0, 2})).shape(), (Shape{0, 1, 1, 8, 8}));
}

}  // namespace
}  // namespace heed::glimpse_test
