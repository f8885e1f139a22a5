// The k likeliest against their twin: the same tokens exactly, on every instruction set, around
// every vector and block length, with ties, bans, -inf and NaN.
#include "heed/kernels/likeliest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/threads.h"
#include "heed/kernels/cross_entropy.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::likeliest_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
struct Found {
  std::vector<LogNormaliser<T>> normalisers;
  std::vector<std::int32_t> tokens;
};

using Bans = std::vector<std::vector<std::int32_t>>;

template <typename T>
Found<T> find(Rows rows, std::int64_t k, const std::vector<T>& x, const Bans& bans) {
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int32_t> banned;
  for (const auto& row : bans) {
    banned.insert(banned.end(), row.begin(), row.end());
    starts.push_back(static_cast<std::int64_t>(banned.size()));
  }
  Found<T> found{std::vector<LogNormaliser<T>>(static_cast<std::size_t>(rows.count)),
                 std::vector<std::int32_t>(static_cast<std::size_t>(rows.count * k + 1), 77)};
  likeliest(LikeliestCall<T>{rows, k, x.data(), starts.data(), banned.data(),
                             found.normalisers.data(), found.tokens.data()});
  EXPECT_EQ(found.tokens.back(), 77) << "wrote past the end";
  found.tokens.pop_back();
  return found;
}

// Bans the largest of the first row, nothing in the second, every third token in the others.
Bans some_bans(Rows rows, const std::vector<float>& x) {
  Bans bans(static_cast<std::size_t>(rows.count));
  bans[0] = {
      static_cast<std::int32_t>(std::max_element(x.begin(), x.begin() + rows.width) - x.begin())};
  for (std::size_t r = 2; r < bans.size(); ++r) {
    for (std::int32_t i = 0; i < rows.width; i += 3) bans[r].push_back(i);
  }
  return bans;
}

void compare(Rows rows, std::int64_t k, const std::vector<float>& x, const std::string& what) {
  const Bans bans = some_bans(rows, x);
  const Found<float> fast = find(rows, k, x, bans);
  const Found<double> plain = find(rows, k, test::as_doubles(x), bans);
  EXPECT_EQ(fast.tokens, plain.tokens) << what;
  for (std::size_t r = 0; r < fast.normalisers.size(); ++r) {
    EXPECT_EQ(fast.normalisers[r].shift, static_cast<float>(plain.normalisers[r].shift)) << what;
    EXPECT_NEAR(fast.normalisers[r].log_total, plain.normalisers[r].log_total, 2e-6) << what;
  }
}

TEST(Likeliest, EqualsItsTwin) {
  test::for_each_isa([](Isa isa) {
    for (std::int64_t width = 1; width <= 70; ++width) {
      for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, width}) {
        const std::vector<float> x = test::random_floats(3 * width, 0, 3.0f);
        compare({3, width}, k, x, fmt::format("{} width {} k {}", name_of(isa), width, k));
      }
    }
    for (const std::int64_t width : {2047, 2048, 2049, 6151}) {  // around and over a block
      for (const std::int64_t k : {1, 6, 200, 7000}) {
        const std::vector<float> x = test::random_floats(3 * width, 0, 3.0f);
        compare({3, width}, k, x, fmt::format("{} width {} k {}", name_of(isa), width, k));
      }
    }
  });
}

TEST(Likeliest, TiesGoToTheLowerToken) {
  test::for_each_isa([](Isa isa) {
    for (const std::int64_t width : {7, 64, 5000}) {
      std::vector<float> x = test::random_floats(3 * width, 0, 2.0f);
      for (float& value : x) value = std::round(value);
      for (const std::int64_t k : {1, 4, 33}) {
        compare({3, width}, k, x, fmt::format("{} width {} k {}", name_of(isa), width, k));
      }
    }
  });
}

TEST(Likeliest, RisingAndFallingRows) {
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<float> x(5000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = sign * 1e-4f * static_cast<float>(i);
    compare({1, 5000}, 10, x, fmt::format("sign {}", sign));
  }
}

TEST(Likeliest, WhatIsImpossibleIsNeverFound) {
  std::vector<float> x(100, -kInfinity);
  x[40] = 1.0f;
  x[70] = 3.0f;
  x[99] = 2.0f;
  const Found<float> found = find<float>({1, 100}, 4, x, {{70}});
  EXPECT_EQ(found.tokens, (std::vector<std::int32_t>{99, 40, kNoToken, kNoToken}));
  const float total = std::log(1.0f + std::exp(-1.0f) + std::exp(-2.0f));
  EXPECT_FLOAT_EQ(found.normalisers[0](x[99]), -1.0f - total);  // the banned one counts
  EXPECT_EQ(found.normalisers[0](x[0]), -kInfinity);
}

TEST(Likeliest, ARowOfMinusInfinity) {
  const std::vector<float> x(2100, -kInfinity);
  const Found<float> found = find<float>({1, 2100}, 2, x, {{}});
  EXPECT_EQ(found.tokens, (std::vector<std::int32_t>{kNoToken, kNoToken}));
  EXPECT_EQ(found.normalisers[0](x[5]), -kInfinity);
}

TEST(Likeliest, NanAndInfinityShowInTheNormaliser) {
  test::for_each_isa([](Isa isa) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
      for (const std::int64_t width : {1, 8, 37, 4099}) {
        for (const std::int64_t place : {std::int64_t{0}, width / 2, width - 1}) {
          std::vector<float> x = test::random_floats(2 * width, 0);
          x[static_cast<std::size_t>(place)] = bad;
          const Found<float> found = find<float>({2, width}, 1, x, {{}, {}});
          EXPECT_TRUE(std::isnan(found.normalisers[0].log_total)) << name_of(isa) << " " << width;
          EXPECT_FALSE(std::isnan(found.normalisers[1].log_total)) << name_of(isa) << " " << width;
        }
      }
    }
  });
}

TEST(Likeliest, LogProbabilitiesAreTheNegativeCrossEntropyToTheBitAndNeverPositive) {
  constexpr std::int64_t kWidth = 4500;
  for (const float scale : {1e-3f, 1.0f, 100.0f}) {
    const std::vector<float> x = test::random_floats(kWidth, 0, scale);
    const Found<float> found = find<float>({1, kWidth}, 1, x, {{}});
    for (std::int64_t target = 0; target < kWidth; target += 7) {
      float loss = 0.0f, log_sum_exp = 0.0f;
      cross_entropy(
          CrossEntropyForward<float>{{1, kWidth}, 0.0, x.data(), &target, &loss, &log_sum_exp});
      EXPECT_EQ(found.normalisers[0](x[static_cast<std::size_t>(target)]), -loss);
    }
    EXPECT_LE(found.normalisers[0](x[static_cast<std::size_t>(found.tokens[0])]), 0.0f);
  }
}

TEST(Likeliest, SameBitsForAnyNumberOfThreads) {
  constexpr Rows kRows{17, 3000};
  const std::vector<float> x = test::random_floats(kRows.count * kRows.width, 0);
  const int before = num_threads();
  set_num_threads(1);
  const Found<float> one = find(kRows, 6, x, Bans(17));
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    const Found<float> many = find(kRows, 6, x, Bans(17));
    EXPECT_EQ(many.tokens, one.tokens);
    for (std::size_t r = 0; r < 17; ++r) {
      EXPECT_EQ(many.normalisers[r].log_total, one.normalisers[r].log_total);
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace heed::kernels::likeliest_test
