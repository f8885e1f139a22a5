// The kernels of rows in sorted orders: against their definitions, for some heads of several, and
// with any number of threads.
#include "heed/kernels/sorted_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Heads 1 and 2 of three.
constexpr SortedShape kShape{.B = 2, .T = 131, .H = 3, .D = 5, .rounds = 3, .head = 1, .heads = 2};
constexpr std::int64_t kPlaces = 2 * 3 * 2 * 131, kRows = 2 * 131 * 3;

struct Case {
  std::vector<std::int64_t> order, place, lengths = {131, 100};
  std::vector<double> x, by_place, log_sums;

  Case() : order(kPlaces), place(kPlaces) {
    for (std::int64_t line = 0; line < kShape.lines(); ++line) {
      for (std::int64_t t = 0; t < kShape.T; ++t) {
        const std::int64_t s = (7 * t + line) % kShape.T;
        place[at(line, t)] = s;
        order[at(line, s)] = t;
      }
    }
    for (std::int64_t i = 0; i < kRows * kShape.D; ++i) x.push_back(std::sin(i * 1.3));
    for (std::int64_t i = 0; i < kPlaces * kShape.D; ++i) by_place.push_back(std::sin(i * 0.7));
    for (std::int64_t i = 0; i < kPlaces; ++i) log_sums.push_back(3.0 * std::sin(i * 2.1));
    // Position 4 has no key in any round, position 5 only in the last one.
    for (std::int64_t line = 0; line < kShape.lines(); ++line) {
      log_sums[at(line, place[at(line, 4)])] = kNone;
      if (line / kShape.heads % kShape.rounds < 2) log_sums[at(line, place[at(line, 5)])] = kNone;
    }
  }
  static std::size_t at(std::int64_t line, std::int64_t i) {
    return static_cast<std::size_t>(line * kShape.T + i);
  }
  SortedRounds<double> rounds(std::vector<double>& shares) const {
    return {.x = by_place.data(),
            .log_sums = log_sums.data(),
            .place = place.data(),
            .alone = x.data(),
            .lengths = lengths.data(),
            .shares = shares.data()};
  }
};

template <typename F>
void for_each_row(const F& f) {
  for (std::int64_t b = 0; b < kShape.B; ++b) {
    for (std::int64_t t = 0; t < kShape.T; ++t) {
      for (std::int64_t h = 0; h < kShape.heads; ++h) f(b, t, h);
    }
  }
}

TEST(SortedRows, TakeAndAddAreTheOrder) {
  const Case given;
  std::vector<double> sorted(kPlaces * kShape.D), added(kRows * kShape.D, 9.0);
  take_sorted<double>(kShape, given.x.data(), given.order.data(), nullptr, sorted.data());
  add_sorted(kShape, sorted.data(), given.place.data(), added.data());
  for_each_row([&](std::int64_t b, std::int64_t t, std::int64_t h) {
    for (std::int64_t d = 0; d < kShape.D; ++d) {
      const auto row = static_cast<std::size_t>(kShape.row(b, t, h) + d);
      EXPECT_DOUBLE_EQ(added[row], 3.0 * given.x[row]);
    }
  });
  EXPECT_EQ(added[0], 9.0);  // of head 0
  std::vector<double> scaled(kPlaces * kShape.D), factors(kPlaces, 0.5);
  take_sorted(kShape, given.x.data(), given.order.data(), factors.data(), scaled.data());
  for (std::size_t i = 0; i < scaled.size(); ++i) ASSERT_EQ(scaled[i], 0.5 * sorted[i]);
}

TEST(SortedRows, JoinIsTheSoftmaxOfTheRounds) {
  const Case given;
  std::vector<double> shares(kPlaces), y(kRows * kShape.D, 9.0);
  join_sorted(kShape, given.rounds(shares), y.data());
  for_each_row([&](std::int64_t b, std::int64_t t, std::int64_t h) {
    double sum = 0.0, expected = 0.0;
    for (std::int64_t r = 0; r < kShape.rounds; ++r) {
      const std::int64_t line = kShape.line(b, r, h);
      const std::size_t at = Case::at(line, given.place[Case::at(line, t)]);
      const double e = std::exp(given.log_sums[at]);
      sum += e;
      expected += e * given.by_place[at * kShape.D + 2];
    }
    const auto row = static_cast<std::size_t>(kShape.row(b, t, h) + 2);
    const bool alone = sum == 0.0;
    EXPECT_EQ(alone, t == 4);
    EXPECT_NEAR(y[row], alone ? given.x[row] : expected / sum, 1e-12);
    for (std::int64_t r = 0; r < kShape.rounds; ++r) {
      const std::int64_t line = kShape.line(b, r, h);
      const std::size_t at = Case::at(line, given.place[Case::at(line, t)]);
      EXPECT_NEAR(shares[at], alone ? 0.0 : std::exp(given.log_sums[at]) / sum, 1e-12);
    }
  });
  EXPECT_EQ(y[0], 9.0);  // of head 0
}

TEST(SortedRows, RowsBeyondTheLengthsAreZero) {
  Case given;
  given.lengths = {131, 4};
  std::vector<double> shares(kPlaces), y(kRows * kShape.D, 9.0), d(kRows * kShape.D, 0.0);
  join_sorted(kShape, given.rounds(shares), y.data());
  add_alone(kShape, given.rounds(shares), given.x.data(), d.data());
  const auto first = static_cast<std::size_t>(kShape.row(0, 4, 1));
  const auto second = static_cast<std::size_t>(kShape.row(1, 4, 1));
  EXPECT_EQ(y[first], given.x[first]);
  EXPECT_EQ(d[first], given.x[first]);
  EXPECT_EQ(y[second], 0.0);
  EXPECT_EQ(d[second], 0.0);
}

TEST(SortedRows, HaveTheSameBitsWithAnyNumberOfThreads) {
  const Case given;
  const auto run = [&](int threads) {
    const int before = num_threads();
    set_num_threads(threads);
    std::vector<double> shares(kPlaces), y(kRows * kShape.D), deltas(kPlaces);
    join_sorted(kShape, given.rounds(shares), y.data());
    spread_deltas(kShape, given.rounds(shares), y.data(), given.x.data(), deltas.data());
    set_num_threads(before);
    y.insert(y.end(), deltas.begin(), deltas.end());
    return y;
  };
  const std::vector<double> one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(3), one);
}

}  // namespace
}  // namespace heed::kernels
