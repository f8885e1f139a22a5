// The plain twin of the k most probable tokens, for one row: sorts the whole row.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/kernels/likeliest.h"
#include "heed/kernels/reference/softmax.h"

namespace heed::kernels::reference {

inline LogNormaliser<double> log_normaliser(std::int64_t n, const double* x) {
  const double shift = softmax_shift(x, n);
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += std::exp(x[i] - shift);
  return {shift, total == 0.0 ? 0.0 : std::log(total)};
}

inline void likeliest_row(const LikeliestCall<double>& c, std::int64_t row) {
  const double* const x = c.logits + row * c.rows.width;
  c.normalisers[row] = log_normaliser(c.rows.width, x);

  const std::int32_t* const banned = c.banned + c.banned_starts[row];
  const std::int32_t* const banned_end = c.banned + c.banned_starts[row + 1];
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < c.rows.width; ++i) {
    const bool possible = x[i] > -std::numeric_limits<double>::infinity();
    if (possible && std::find(banned, banned_end, i) == banned_end) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [x](std::int32_t a, std::int32_t b) { return x[a] > x[b]; });
  order.resize(static_cast<std::size_t>(c.k), kNoToken);
  std::copy(order.begin(), order.end(), c.tokens + row * c.k);
}

}  // namespace heed::kernels::reference
