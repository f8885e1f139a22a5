// The k likeliest tokens of each row of logits, and what turns their logits into log-probabilities:
// all that a search keeps of [rows, V]. One pass over the row, without sorting it: a block's
// maximum, which the log-sum-exp needs anyway, says that almost no block holds anything to keep.
#pragma once

#include <cstdint>

#include "heed/kernels/rows.h"

namespace heed::kernels {

/// log p = (x - shift) - log_total, never above 0; differences come first, they are small where p
/// is large. NaN for every x when the row held NaN or +inf; -inf for every x of a row of -inf.
template <typename T>
struct LogNormaliser {
  T shift;
  T log_total;
  T operator()(T x) const { return (x - shift) - log_total; }
};

/// What stands for no token.
inline constexpr std::int32_t kNoToken = -1;

/// Tokens that may not be chosen count in the normaliser all the same: they change no probability.
template <typename T>
struct LikeliestCall {
  Rows rows;  // width: V
  std::int64_t k;
  const T* logits;
  const std::int64_t* banned_starts;  // [rows + 1]: where a row's banned tokens are
  const std::int32_t* banned;         // rising within a row
  LogNormaliser<T>* normalisers;      // [rows]
  std::int32_t* tokens;               // [rows, k]
};

/// Writes each row's k largest logits' tokens, largest first, the lowest token first among equals;
/// kNoToken behind the last of them where fewer are neither banned nor -inf. A row with NaN or +inf
/// has a normaliser that says so, and any tokens.
void likeliest(const LikeliestCall<float>& call);
void likeliest(const LikeliestCall<double>& call);

}  // namespace heed::kernels
