#include "heed/evaluation/numpy_sums.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "heed/base/error.h"

namespace heed::evaluation {

template <typename T>
T pairwise_sum(std::span<const T> values) {
  const std::size_t n = values.size();
  if (n < 8) {
    T sum = 0;
    for (const T value : values) sum += value;
    return sum;
  }
  if (n > 128) {
    const std::size_t half = n / 2 - n / 2 % 8;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  T sums[8];
  std::copy_n(values.begin(), 8, sums);
  std::size_t i = 8;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += values[i + k];
  }
  T sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

template float pairwise_sum(std::span<const float> values);
template double pairwise_sum(std::span<const double> values);

double exact_mean(std::span<const double> values) {
  HEED_ASSERT(!values.empty());
  // The rounding error of an addition is itself a double (Knuth); summing the errors separately
  // gives twice the digits.
  double sum = 0, rest = 0;
  for (const double value : values) {
    const double next = sum + value;
    const double added = next - sum;
    rest += (sum - (next - added)) + (value - added);
    sum = next;
  }
  const auto n = static_cast<double>(values.size());
  const double mean = (sum + rest) / n;
  // Adds the exact remainder of the division.
  return mean + (std::fma(-mean, n, sum) + rest) / n;
}

}  // namespace heed::evaluation
