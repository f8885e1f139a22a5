// For tests of kernels against their twins: the same random numbers in both precisions, and the
// comparison of what came out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/random.h"

namespace heed::test {

/// n normal numbers, different for each stream.
inline std::vector<float> random_floats(std::int64_t n, std::uint64_t stream, float scale = 1.0f) {
  const RandomStream random{42, stream};
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * random.normal(i);
  return values;
}

inline std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// Written after the end of an output, where it must stay.
inline constexpr float kGuard = 1234.5f;

/// An output of n elements with a guard after it.
inline std::vector<float> guarded(std::int64_t n) {
  return std::vector<float>(static_cast<std::size_t>(n) + 1, kGuard);
}

/// Each element within tolerance * max(1, |expected|), and the guard after them unchanged.
inline void expect_close(const std::vector<float>& actual, const std::vector<double>& expected,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size() + 1) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", element " << i;
  }
  EXPECT_EQ(actual.back(), kGuard) << what << ": wrote past the end";
}

}  // namespace heed::test
