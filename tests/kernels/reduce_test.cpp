// Reductions along the middle axis, against one running total in double.
#include "heed/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/threads.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::reduce_test {
namespace {

using test::as_doubles;
using test::guarded;
using test::random_floats;

const ReduceShape kShapes[] = {
    {1, 1, 1},      {1, 7, 1},      {3, 17, 1},  {5, 63, 1},     {2, 65, 1},
    {1, 7, 3},      {2, 5, 17},     {3, 4, 63},  {1, 9, 65},     {2, 3, 300},
    {1, 40'000, 1}, {2, 20'001, 1}, {1, 700, 5}, {1, 3000, 257}, {700, 3, 1},
    {300, 1, 9},    {0, 5, 3},      {3, 5, 0},   {1, 64, 256},   {1, 65, 256},
};

std::vector<double> expected(Reduce op, ReduceShape s, const std::vector<float>& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> y;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    for (std::int64_t i = 0; i < s.inner; ++i) {
      double total = op == Reduce::sum ? 0.0 : op == Reduce::maximum ? -kInfinity : kInfinity;
      for (std::int64_t k = 0; k < s.n; ++k) {
        const double v = x[static_cast<std::size_t>((o * s.n + k) * s.inner + i)];
        total = op == Reduce::sum       ? total + v
                : op == Reduce::maximum ? std::max(total, v)
                                        : std::min(total, v);
      }
      y.push_back(total);
    }
  }
  return y;
}

TEST(Reduce, EveryShapeOnEveryInstructionSet) {
  test::for_each_isa([](Isa isa) {
    for (const ReduceShape& s : kShapes) {
      const auto x = random_floats(s.outer * s.n * s.inner, 1);
      for (const Reduce op : {Reduce::sum, Reduce::maximum, Reduce::minimum}) {
        const auto truth = expected(op, s, x);
        const std::string what = std::string(name_of(isa)) + " " + std::to_string(s.outer) + " x " +
                                 std::to_string(s.n) + " x " + std::to_string(s.inner);
        std::vector<float> y = guarded(s.outer * s.inner);
        reduce(op, s, x.data(), y.data());
        test::expect_close(y, truth, op == Reduce::sum ? 1e-4 : 0.0, what);
        std::vector<double> y2(truth.size());
        reduce(op, s, as_doubles(x).data(), y2.data());
        for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_NEAR(y2[i], truth[i], 1e-9) << what;
      }
    }
  });
}

TEST(Reduce, AnEmptyAxisGivesWhereTheReductionStarts) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::pair<Reduce, float> starts[] = {
      {Reduce::sum, 0.0f}, {Reduce::maximum, -kInfinity}, {Reduce::minimum, kInfinity}};
  for (const auto& [op, start] : starts) {
    for (const ReduceShape s :
         {ReduceShape{2, 0, 3}, ReduceShape{1, 0, 1}, ReduceShape{3, 0, 300}}) {
      std::vector<float> y(static_cast<std::size_t>(s.outer * s.inner), 7.0f);
      std::vector<double> y2(y.size(), 7.0);
      reduce(op, s, static_cast<const float*>(nullptr), y.data());
      reduce(op, s, static_cast<const double*>(nullptr), y2.data());
      EXPECT_EQ(y, std::vector<float>(y.size(), start));
      EXPECT_EQ(y2, std::vector<double>(y.size(), static_cast<double>(start)));
    }
  }
}

TEST(Reduce, NanWinsWhereverItIs) {
  test::for_each_isa([](Isa) {
    for (const std::int64_t inner : {std::int64_t{1}, std::int64_t{3}, std::int64_t{65}}) {
      for (std::int64_t place = 0; place < 70; ++place) {
        const ReduceShape s{1, 70, inner};
        std::vector<float> x = random_floats(70 * inner, 2);
        x[static_cast<std::size_t>(place * inner)] = std::numeric_limits<float>::quiet_NaN();
        for (const Reduce op : {Reduce::sum, Reduce::maximum, Reduce::minimum}) {
          std::vector<float> y(static_cast<std::size_t>(inner));
          reduce(op, s, x.data(), y.data());
          EXPECT_TRUE(std::isnan(y[0]));
          EXPECT_FALSE(inner > 1 && std::isnan(y[1]));
          std::vector<double> y2(y.size());
          reduce(op, s, as_doubles(x).data(), y2.data());
          EXPECT_TRUE(std::isnan(y2[0]));
        }
      }
    }
  });
}

TEST(Reduce, LongSumsStayAccurate) {
  // A single running float would be off by tens of thousands.
  const std::vector<float> x(10'000'000, 0.1f);
  float y = 0.0f;
  reduce(Reduce::sum, {1, 10'000'000, 1}, x.data(), &y);
  EXPECT_NEAR(y, 1e6, 10.0);
}

TEST(Reduce, SameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  for (const ReduceShape s : {ReduceShape{1, 200'001, 1}, ReduceShape{2, 5000, 65}}) {
    const auto x = random_floats(s.outer * s.n * s.inner, 3);
    set_num_threads(1);
    std::vector<float> one(static_cast<std::size_t>(s.outer * s.inner)), y = one;
    reduce(Reduce::sum, s, x.data(), one.data());
    const double squares = sum_of_squares(x.data(), static_cast<std::int64_t>(x.size()));
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      reduce(Reduce::sum, s, x.data(), y.data());
      EXPECT_EQ(y, one);
      EXPECT_EQ(sum_of_squares(x.data(), static_cast<std::int64_t>(x.size())), squares);
    }
  }
  set_num_threads(before);
}

TEST(SumOfSquares, EverySize) {
  test::for_each_isa([](Isa) {
    for (const std::int64_t n : {0, 1, 7, 17, 63, 65, 4095, 4096, 4097, 30'000}) {
      const auto x = random_floats(n, 4);
      double truth = 0.0;
      for (const double v : x) truth += v * v;
      EXPECT_NEAR(sum_of_squares(x.data(), n), truth, 1e-6 * std::max(truth, 1.0)) << n;
      EXPECT_NEAR(sum_of_squares(as_doubles(x).data(), n), truth, 1e-12 * std::max(truth, 1.0));
    }
  });
}

}  // namespace
}  // namespace heed::kernels::reduce_test
