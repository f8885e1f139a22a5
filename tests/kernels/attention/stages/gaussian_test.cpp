#include "heed/kernels/attention/stages/gaussian.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::gaussian_test {
namespace {

constexpr std::int64_t kBatches = 2, kHeads = 2, kQueries = 144;

// Centres among the keys of the blocks.
std::vector<double> parameters(std::int64_t n = kBatches * kHeads * kQueries) {
  std::vector<double> centres = heed::test::as_doubles(heed::test::random_floats(n, 7));
  for (double& x : centres) x = 40.0 + 16.0 * x;
  return centres;
}

template <typename T>
Gaussian<T> make(heed::test::Learned<T>& learned, bool shared, double deviation = 12.0) {
  GaussianCentres<T> centres;
  centres.values.data = learned.values.data();
  centres.values.batch = shared ? 0 : kHeads * kQueries;
  centres.values.head = shared ? 0 : kQueries;
  centres.gradient = {learned.gradient.data(), centres.values.batch, centres.values.head, 1};
  centres.rows = kQueries;
  centres.falloff = static_cast<T>(0.5 / (deviation * deviation));
  return Gaussian<T>(centres);
}

TEST(GaussianStage, FloatEqualsDouble) {
  for (const bool shared : {false, true}) {
    heed::test::compare_with_double(parameters(),
                                    [&](auto& learned) { return make(learned, shared); });
  }
}

TEST(GaussianStage, GradientsEqualDifferences) {
  heed::test::compare_with_differences(parameters(kQueries),
                                       [](auto& learned) { return make(learned, true); },
                                       {.row = 5, .rows = 17, .col = 30, .cols = 33});
}

TEST(GaussianStage, IsOneAtTheCentreAndFallsWithTheDistance) {
  heed::test::Learned<double> learned(std::vector<double>(kQueries, 1.5));
  auto stage = make(learned, true, 2.0);
  heed::test::StageTrial<double> trial(stage, {.rows = 1, .cols = 3, .features = 0});
  const std::vector<double> y = trial.forward({{1.0, 2.0, 3.0}, {}, {}, {}}).tile;
  EXPECT_DOUBLE_EQ(y[0], 1.0 * std::exp(-1.5 * 1.5 / 8.0));
  EXPECT_DOUBLE_EQ(y[1], 2.0 * std::exp(-0.5 * 0.5 / 8.0));
  EXPECT_DOUBLE_EQ(y[2], 3.0 * std::exp(-0.5 * 0.5 / 8.0));
}

TEST(GaussianStage, FarAwayNothingRemains) {
  heed::test::for_each_isa([&](Isa isa) {
    heed::test::Learned<float> learned(std::vector<double>(kQueries, 5000.0));
    auto stage = make(learned, true, 1e-3);
    heed::test::StageTrial<float> trial(stage, {.rows = 1, .cols = 2, .features = 0});
    EXPECT_EQ(trial.forward({{1.0f, 2.0f}, {}, {}, {}}).tile, (std::vector<float>{0.0f, 0.0f}))
        << name_of(isa);
  });
}

TEST(GaussianStage, WhatIsHiddenDoesNotReachTheCentre) {
  heed::test::for_each_isa([&](Isa isa) {
    heed::test::Learned<float> learned(std::vector<double>(kQueries, 0.0));
    auto stage = make(learned, true);
    heed::test::StageTrial<float> trial(stage, {.rows = 2, .features = 0, .value_features = 0});
    trial.backward({{0.0f, 1.0f}, {NAN, 5.0f}, {}, {}});
    EXPECT_EQ(learned.gradient[0], 0.0f) << name_of(isa);
  });
}

TEST(GaussianStage, WithoutGradientKeepsNothing) {
  GaussianCentres<float> fixed;
  fixed.rows = 9;
  const StageNeeds needs = Gaussian<float>(fixed).needs(48, true);
  EXPECT_FALSE(needs.saved);
  EXPECT_EQ(needs.sums, 0);
}

}  // namespace
}  // namespace heed::kernels::gaussian_test
