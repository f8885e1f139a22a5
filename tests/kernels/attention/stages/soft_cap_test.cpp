#include "heed/kernels/attention/stages/soft_cap.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::soft_cap_test {
namespace {

template <typename T>
SoftCap<T> make(const heed::test::Learned<T>& /*none*/) {
  return SoftCap<T>(T{1.5});
}

TEST(SoftCapStage, FloatEqualsDouble) {
  heed::test::compare_with_double({}, [](auto& learned) { return make(learned); });
}

TEST(SoftCapStage, GradientsEqualDifferences) {
  heed::test::compare_with_differences({}, [](auto& learned) { return make(learned); },
                                       {.rows = 7, .cols = 5});
}

std::vector<float> capped(const std::vector<float>& x, float cap) {
  SoftCap<float> stage(cap);
  const heed::test::StagePlace place{.rows = static_cast<std::int64_t>(x.size()), .features = 0};
  return heed::test::StageTrial<float>(stage, place).forward({x, {}, {}, {}}).tile;
}

TEST(SoftCapStage, RelativeErrorOverTheWholeRange) {
  std::vector<float> x;
  for (float v = 1e-6f; v < 2000.0f; v *= 1.0007f) {
    x.push_back(v);
    x.push_back(-v);
  }
  heed::test::for_each_isa([&](Isa isa) {
    const std::vector<float> y = capped(x, 50.0f);
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = 50.0 * std::tanh(x[i] / 50.0);
      worst = std::max(worst, std::abs(y[i] - exact) / std::abs(exact));
    }
    EXPECT_LT(worst, 4e-7) << name_of(isa);
  });
}

TEST(SoftCapStage, LimitsAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  heed::test::for_each_isa([&](Isa isa) {
    const std::vector<float> y = capped({kInfinity, -kInfinity, 0.0f, NAN}, 30.0f);
    EXPECT_NEAR(y[0], 30.0f, 1e-5) << name_of(isa);
    EXPECT_NEAR(y[1], -30.0f, 1e-5) << name_of(isa);
    EXPECT_EQ(y[2], 0.0f) << name_of(isa);
    EXPECT_TRUE(std::isnan(y[3])) << name_of(isa);
  });
}

TEST(SoftCapStage, NoGradientStaysNoneWhereTheScoreIsNaN) {
  heed::test::for_each_isa([&](Isa isa) {
    SoftCap<float> stage(30.0f);
    heed::test::StageTrial<float> trial(stage, {.rows = 2, .features = 0, .value_features = 0});
    const auto results = trial.backward({{NAN, 1.0f}, {0.0f, 1.0f}, {}, {}});
    EXPECT_EQ(results.gradient[0], 0.0f) << name_of(isa);
    EXPECT_GT(results.gradient[1], 0.9f) << name_of(isa);
  });
}

}  // namespace
}  // namespace heed::kernels::soft_cap_test
