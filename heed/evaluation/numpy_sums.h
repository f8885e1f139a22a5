// Means as Python and NumPy compute them: the last digits of a mean of a thousand scores depend on
// the order and the type of the additions.
#pragma once

#include <span>

namespace heed::evaluation {

/// The sum in NumPy's order: recursive halves, and blocks of at most 128 with eight running sums.
template <typename T>
T pairwise_sum(std::span<const T> values);

/// numpy.mean of an array of T.
template <typename T>
T pairwise_mean(std::span<const T> values) {
  return pairwise_sum(values) / static_cast<T>(values.size());
}

/// Python's statistics.mean: the exact sum, rounded once.
double exact_mean(std::span<const double> values);

}  // namespace heed::evaluation
