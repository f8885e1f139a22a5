// A piece of scores offered to the best scores of its rows (top_scores.h).
#if defined(HEED_KERNELS_ATTENTION_TOP_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_TOP_SCORES_INL_H_
#undef HEED_KERNELS_ATTENTION_TOP_SCORES_INL_H_
#else
#define HEED_KERNELS_ATTENTION_TOP_SCORES_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/attention/top_scores.h"
#include "heed/kernels/attention/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// `row` and `col` are the first row and the first key of the piece.
template <typename T>
void offer_scores(TopScores<T>& best, Piece<T> piece, std::int64_t row, std::int64_t col) {
  const TagOf<T> d;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      const T* const x = piece.at(k, v);
      const std::int64_t first = row + v * kLanesOf<T>;
      if (hn::AllFalse(d, hn::Gt(hn::Load(d, x), hn::Load(d, best.cuts() + first)))) continue;
      for (std::int64_t i = 0; i < kLanesOf<T>; ++i) {
        if (x[i] > best.cuts()[first + i]) {
          best.insert(first + i, x[i], static_cast<std::int32_t>(col + k));
        }
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
