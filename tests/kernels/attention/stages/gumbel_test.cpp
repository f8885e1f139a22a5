#include "heed/kernels/attention/stages/gumbel.h"

#include <gtest/gtest.h>

#include "heed/kernels/attention/stages/query_random.h"
#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::gumbel_test {
namespace {

const RandomStream kRandom{0x0123456789abcdef, 0xfedcba9876543210};

// The noise of a block, which may be cut into tiles in any way.
template <typename T>
std::vector<T> noise(const heed::test::StagePlace& place) {
  GumbelNoise<T> stage(kRandom);
  const std::vector<T> zeros(static_cast<std::size_t>(place.rows * place.cols));
  return heed::test::StageTrial<T>(stage, place).forward({zeros, {}, {}, {}}).tile;
}

TEST(GumbelNoiseStage, FloatEqualsDoubleOnEveryInstructionSet) {
  heed::test::for_each_place([](const heed::test::StagePlace& place) {
    const std::vector<double> expected = noise<double>(place);
    heed::test::for_each_isa([&](Isa isa) {
      heed::test::expect_near(noise<float>(place), expected, 1e-6,
                              fmt::format("{} {}", name_of(isa), place.name()));
    });
  });
}

TEST(GumbelNoiseStage, IsThatOfItsPlace) {
  const heed::test::StagePlace place{.row = 5, .rows = 3, .col = 6, .cols = 5, .features = 0};
  const std::vector<double> x = noise<double>(place);
  const RandomStream head = random_of_head(kRandom, place.batch, place.head);
  for (std::int64_t c = 0; c < 5; ++c) {
    for (std::int64_t r = 0; r < 3; ++r) {
      EXPECT_EQ(x[static_cast<std::size_t>(c * 3 + r)], gumbel_noise(head, 5 + r, 6 + c));
    }
  }
}

TEST(GumbelNoiseStage, DoesNotDependOnTiling) {
  heed::test::StagePlace place{.row = 40, .rows = 64, .col = 5, .cols = 40, .features = 0};
  heed::test::for_each_isa([&](Isa isa) {
    place.tile_rows = place.rows;
    place.tile_cols = place.cols;
    const std::vector<float> whole = noise<float>(place);
    for (const std::int64_t cols : {1, 3, 8, 11}) {
      place.tile_rows = 16;
      place.tile_cols = cols;
      EXPECT_EQ(noise<float>(place), whole) << name_of(isa) << ", tiles of " << cols;
    }
  });
}

// P(g <= x) = e^-e^-x, and the mean is Euler's constant.
TEST(GumbelNoiseStage, HasGumbelsDistribution) {
  const std::vector<float> x = noise<float>({.rows = 512, .cols = 512, .features = 0});
  const auto n = static_cast<double>(x.size());
  double mean = 0.0, square = 0.0;
  for (const double g : x) {
    ASSERT_TRUE(std::isfinite(g));
    mean += g / n;
    square += g * g / n;
  }
  EXPECT_NEAR(mean, 0.57721566, 0.01);  // a deviation is 0.0025
  EXPECT_NEAR(square - mean * mean, 1.6449341, 0.03);
  for (const double level : {-1.0, 0.0, 1.0, 4.0, 8.0}) {
    double below = 0.0;
    for (const double g : x) below += g <= level;
    const double p = std::exp(-std::exp(-level));
    EXPECT_NEAR(below / n, p, 4 * std::sqrt(p * (1 - p) / n)) << level;
  }
}

TEST(GumbelNoiseStage, LetsNoGradientPass) {
  const heed::test::StagePlace place{.rows = 7, .cols = 5};
  const auto values = heed::test::random_values(place);
  GumbelNoise<double> stage(kRandom);
  for (const double x : heed::test::StageTrial<double>(stage, place).backward(values).gradient) {
    EXPECT_EQ(x, 0.0);
  }
  GumbelNoise<float> stage_f(kRandom);
  for (const float x : heed::test::StageTrial<float>(stage_f, place)
                           .backward(heed::test::as_floats(values))
                           .gradient) {
    EXPECT_EQ(x, 0.0f);
  }
}

TEST(GumbelNoiseStage, LetsTheGradientPassIfTold) {
  const heed::test::StagePlace place{.rows = 7, .cols = 5};
  const auto values = heed::test::random_values(place);
  GumbelNoise<double> stage(kRandom, NoiseGradient::passes);
  EXPECT_EQ(heed::test::StageTrial<double>(stage, place).backward(values).gradient,
            values.gradient);
  GumbelNoise<float> stage_f(kRandom, NoiseGradient::passes);
  const auto floats = heed::test::as_floats(values);
  EXPECT_EQ(heed::test::StageTrial<float>(stage_f, place).backward(floats).gradient,
            floats.gradient);
}

}  // namespace
}  // namespace heed::kernels::gumbel_test
