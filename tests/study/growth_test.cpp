#include "heed/study/growth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using Numbers = std::vector<double>;
using Place = Crossover::Place;

template <typename F>
Numbers at(const Numbers& x, const F& f) {
  Numbers y;
  for (const double each : x) y.push_back(f(each));
  return y;
}

TEST(Growth, APowerLawIsFound) {
  const Numbers x{3, 10, 40, 90};
  const PowerLaw law = fit_power_law(x, at(x, [](double n) { return 0.25 * std::pow(n, 1.7); }));
  EXPECT_NEAR(law.exponent, 1.7, 1e-12);
  EXPECT_NEAR(law.factor, 0.25, 1e-12);
}

// Errors of a factor up and down cancel: the fit is of logarithms.
TEST(Growth, NoiseOnBothSidesCancels) {
  const Numbers x{1, 2, 4, 8}, y{1 * 1.1, 4 / 1.1, 16 / 1.1, 64 * 1.1};
  EXPECT_NEAR(fit_power_law(x, y).exponent, 2.0, 1e-12);
}

TEST(Growth, ACrossoverBetweenPoints) {
  const Numbers x{1, 10, 100, 1000};
  // n^2 against 30 n: powers meet exactly on the straight lines between logarithms.
  const Crossover c = find_crossover(x, at(x, [](double n) { return n * n; }),
                                     at(x, [](double n) { return 30 * n; }));
  EXPECT_EQ(c.place, Place::within);
  EXPECT_NEAR(*c.at, 30.0, 1e-9);
}

TEST(Growth, TheLastCrossoverCounts) {
  const Numbers x{1, 2, 4, 8, 16};
  const Crossover c = find_crossover(x, Numbers{2, 2, 1, 4, 4}, Numbers{1, 3, 2, 2, 2});
  EXPECT_NEAR(*c.at, 4 * std::sqrt(std::sqrt(2.0)) * std::pow(2.0, 0.25), 1e-9);
  // Equal at a point: there.
  EXPECT_NEAR(*find_crossover(x, Numbers{1, 2, 3, 4, 5}, Numbers{3, 3, 3, 3, 3}).at, 4, 1e-12);
}

TEST(Growth, BeyondThePointsTheFitsMeet) {
  const Numbers x{128, 256, 512, 1024};
  const auto attention = at(x, [](double n) { return 4 * n * n + 8 * n * 2000; });
  const auto recurrence = at(x, [](double n) { return 12 * n * 2000; });
  const Crossover after = find_crossover(x, attention, recurrence);
  EXPECT_EQ(after.place, Place::after);
  ASSERT_TRUE(after.at.has_value());
  EXPECT_NEAR(*after.at, 2000, 1e-6);
  const Crossover before = find_crossover(x, at(x, [](double n) { return 4 * n * n + 8 * n * 32; }),
                                          at(x, [](double n) { return 12 * n * 32; }));
  EXPECT_EQ(before.place, Place::before);
  ASSERT_TRUE(before.at.has_value());
  EXPECT_NEAR(*before.at, 32, 1e-6);
}

TEST(Growth, CostsThatNeverMeetHaveNone) {
  const Numbers x{1, 2, 4};
  const auto linear = at(x, [](double n) { return n; });
  const auto dearer = at(x, [](double n) { return 2 * n; });
  EXPECT_FALSE(find_crossover(x, linear, dearer).at.has_value());
  EXPECT_EQ(find_crossover(x, linear, dearer).place, Place::after);
  EXPECT_EQ(find_crossover(x, dearer, linear).place, Place::before);
}

TEST(Growth, BadNumbersAreNamed) {
  const auto says = [](const auto& call, const char* what) {
    return error_message(call).find(what) != std::string::npos;
  };
  EXPECT_TRUE(says([] { fit_power_law(Numbers{1, 2}, Numbers{1}); }, "1 costs at 2 places"));
  EXPECT_TRUE(says([] { fit_power_law(Numbers{1, 2}, Numbers{1, 0}); }, "must be positive"));
  EXPECT_TRUE(says([] { fit_power_law(Numbers{2, 2}, Numbers{1, 3}); }, "two different places"));
  EXPECT_TRUE(says([] { find_crossover(Numbers{2, 1}, Numbers{1, 3}, Numbers{1, 3}); }, "rising"));
}

}  // namespace
}  // namespace heed
