// Rows in several sorted orders at once, for attention that sorts its positions (LSH): one row has
// one place in every round, and the results of the rounds are combined.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// The places of N rows in `rounds` orders, and the rows at these places.
struct RoundPlaces {
  Tensor rows;    ///< i64 [rounds * N] in any shape: the row at each place.
  Tensor places;  ///< i64 [rounds, N]: the place of each row in each round; a permutation.
};

/// x [N, D] -> [rounds * N, D]: the row at each place. Like embedding(x, rows), with a gradient
/// that reads its rows instead of searching for them.
Tensor repeat_rows(const Tensor& x, const RoundPlaces& at);

/// The results x [rounds * N, D] of the rounds with their log-sum-exps [rounds * N] -> [N, D]: sum
/// over r of softmax_r(log_sums) x. A row whose log-sums are all -inf is 0.
Tensor join_rounds(const Tensor& x, const Tensor& log_sums, const RoundPlaces& at);

}  // namespace heed
