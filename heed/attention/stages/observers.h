// Observers: weights, their largest, scores and log-sum-exp of chosen heads and queries.
//
//   Tensor weights;
//   attention(q, k, v, {.observers = {observe_weights(weights, {.heads = {0}})}});
//   // weights [B, 1, Tq, Tk]
//
// The tensors must live as long as specs with the observer are used; each call assigns new ones. In
// packed calls, B is the number of sequences and Tk the maximum number of keys; keys that a
// sequence does not have count as hidden.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heed/attention/observer.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Which heads and queries are observed; an empty list means all.
struct Observed {
  std::vector<std::int64_t> heads = {};  ///< Query heads, in the order of the result.
  std::vector<std::int64_t> rows = {};   ///< Queries, likewise.
};

/// When weights are observed.
enum class WeightsAt : std::uint8_t {
  normalised,  ///< Before dropout and the like.
  read,        ///< As they are multiplied with values.
};

/// `out` becomes the weights [B, heads, rows, Tk], 0 for hidden keys.
Observer observe_weights(Tensor& out, const Observed& who = {},
                         WeightsAt at = WeightsAt::normalised);

/// The largest weights of each row, in decreasing order; of equal weights the earlier key comes
/// first.
struct TopWeights {
  Tensor values;  ///< [B, heads, rows, k]; 0 after the last.
  Tensor keys;    ///< Their keys, i64; -1 after the last.
};

/// `out` becomes the k largest weights that are not 0. While the call runs, all weights of the
/// observed heads and queries are in memory.
Observer observe_top_weights(TopWeights& out, std::int64_t k, const Observed& who = {},
                             WeightsAt at = WeightsAt::normalised);

/// `out` becomes the scores [B, heads, rows, Tk] after the first `after` modifiers (0: the score
/// itself), by default after all; -inf for hidden keys.
Observer observe_scores(Tensor& out, const Observed& who = {},
                        std::optional<std::size_t> after = {});

/// `out` becomes the log-sum-exp of each row, [B, H, Tq], or [total, H] in packed calls.
Observer observe_log_sum_exp(Tensor& out);

}  // namespace heed
