// Observers: weights, their largest, scores and log-sum-exp of chosen heads and queries.
//
//   Tensor seen;
//   attention(q, k, v, {.observers = {observe_weights(seen, {.heads = {0}})}});
//   // seen [B, 1, Tq, Tk]
//
// The tensors must live as long as specs with the observer are used; each call makes them anew. In
// packed calls, B is the number of sequences and Tk the most keys of one; what a sequence does not
// have is as if hidden.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heed/attention/observer.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Who is observed; nobody listed means all.
struct Observed {
  std::vector<std::int64_t> heads = {};  ///< Query heads, in the order wanted.
  std::vector<std::int64_t> rows = {};   ///< Queries, likewise.
};

/// When weights are looked at.
enum class WeightsAt : std::uint8_t {
  normalised,  ///< Before dropout and the like.
  read,        ///< As values are read.
};

/// `out` becomes the weights [B, heads, rows, Tk], 0 where hidden.
Observer observe_weights(Tensor& out, const Observed& who = {},
                         WeightsAt at = WeightsAt::normalised);

/// The largest weights of each row, largest first, of equal ones the earlier key first.
struct TopWeights {
  Tensor values;  ///< [B, heads, rows, k]; 0 behind the last.
  Tensor keys;    ///< The same in i64; -1 behind the last.
};

/// `out` becomes the k largest weights that are not 0. While the call runs, all weights of those
/// observed are in memory.
Observer observe_top_weights(TopWeights& out, std::int64_t k, const Observed& who = {},
                             WeightsAt at = WeightsAt::normalised);

/// `out` becomes the scores [B, heads, rows, Tk] after so many modifiers (0: the score itself), by
/// default all of them; -inf where hidden.
Observer observe_scores(Tensor& out, const Observed& who = {},
                        std::optional<std::size_t> after = {});

/// `out` becomes the rows' log-sum-exp [B, H, Tq], or [total, H] in packed calls.
Observer observe_log_sum_exp(Tensor& out);

}  // namespace heed
