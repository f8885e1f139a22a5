#include "heed/kernels/attention/stages/temperature.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::temperature_test {
namespace {

template <typename T>
Temperature<T> make(heed::test::Learned<T>& learned, bool per_head) {
  HeadFactors<T> factors;
  factors.values = learned.values.data();
  factors.head_stride = per_head ? 1 : 0;
  factors.gradient = learned.gradient.data();
  return Temperature<T>(factors);
}

TEST(TemperatureStage, FloatEqualsDouble) {
  heed::test::compare_with_double({0.5, 1.25}, [](auto& learned) { return make(learned, true); });
  heed::test::compare_with_double({0.5, 1.25}, [](auto& learned) { return make(learned, false); });
}

TEST(TemperatureStage, GradientsEqualDifferences) {
  heed::test::compare_with_differences(
      {0.5, 1.25}, [](auto& learned) { return make(learned, true); }, {.rows = 17, .cols = 33});
}

TEST(TemperatureStage, WhatIsHiddenDoesNotReachTheFactor) {
  heed::test::for_each_isa([&](Isa isa) {
    heed::test::Learned<float> learned({2.0, 2.0});
    auto stage = make(learned, true);
    heed::test::StageTrial<float> trial(stage, {.rows = 2, .features = 0, .value_features = 0});
    trial.backward({{NAN, 3.0f}, {0.0f, 5.0f}, {}, {}});
    EXPECT_EQ(learned.gradient, (std::vector<float>{0.0f, 15.0f})) << name_of(isa);
  });
}

TEST(TemperatureStage, WithoutGradientKeepsNothing) {
  const float factor = 2.0f;
  const StageNeeds needs = Temperature<float>({&factor, 0, nullptr}).needs(48, true);
  EXPECT_FALSE(needs.saved);
  EXPECT_EQ(needs.sums, 0);
}

}  // namespace
}  // namespace heed::kernels::temperature_test
