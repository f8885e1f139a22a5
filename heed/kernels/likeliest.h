// The k most probable tokens of each row of logits, and the normalisers that turn logits into
// log-probabilities: all that a search needs from [rows, V]. One pass over the row, without
// sorting: the maximum of a block, which the log-sum-exp needs anyway, shows that almost no block
// contains a candidate.
#pragma once

#include <cstdint>

#include "heed/kernels/rows.h"

namespace heed::kernels {

/// log p = (x - shift) - log_total, never above 0. The difference is computed first, because it is
/// small where p is large. NaN for every x if the row contains NaN or +inf; -inf for every x of a
/// row of -inf.
template <typename T>
struct LogNormaliser {
  T shift;
  T log_total;
  T operator()(T x) const { return (x - shift) - log_total; }
};

/// Marks unused entries of `tokens`.
inline constexpr std::int32_t kNoToken = -1;

/// Banned tokens are never chosen, but they count in the normaliser, so they do not change the
/// probabilities of other tokens.
template <typename T>
struct LikeliestCall {
  Rows rows;  // width: V
  std::int64_t k;
  const T* logits;
  const std::int64_t* banned_starts;  // [rows + 1]: start of the banned tokens of each row
  const std::int32_t* banned;         // ascending within a row
  LogNormaliser<T>* normalisers;      // [rows]
  std::int32_t* tokens;               // [rows, k]
};

/// Writes the tokens of the k largest logits of each row, largest first, the lowest token first
/// among equals. Banned tokens and logits of -inf are left out; if fewer than k are left, the rest
/// is kNoToken. For a row with NaN or +inf, the normaliser gives NaN and the tokens are undefined.
void likeliest(const LikeliestCall<float>& call);
void likeliest(const LikeliestCall<double>& call);

}  // namespace heed::kernels
