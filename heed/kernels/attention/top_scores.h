// The best k scores of each row of a block, updated tile by tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "heed/base/arena.h"
#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// Ordered best first; of equal scores the earlier key comes first. Rows with fewer than k visible
/// keys so far have a cut of -inf, which every score exceeds except a hidden one.
template <typename T>
class TopScores {
 public:
  TopScores(std::int64_t rows, std::int64_t k) : k_(k), kept_(rows * k), cuts_(rows) {
    std::fill_n(kept_.data(), rows * k, nothing());
    std::fill_n(cuts_.data(), rows, nothing().score);
  }

  /// The score that a new score of each row must exceed.
  const T* cuts() const { return cuts_.data(); }

  /// Inserts a score above the row's cut; keys come in increasing order.
  void insert(std::int64_t row, T score, std::int32_t key) {
    RowCut<T>* const begin = kept_.data() + row * k_;
    RowCut<T>* at = begin + k_ - 1;
    for (; at != begin && at[-1].score < score; --at) *at = at[-1];
    *at = {score, key};
    cuts_[row] = begin[k_ - 1].score;
  }

  RowCut<T> cut(std::int64_t row) const { return kept_[row * k_ + k_ - 1]; }

 private:
  static RowCut<T> nothing() {
    return {-std::numeric_limits<T>::infinity(), std::numeric_limits<std::int32_t>::max()};
  }

  std::int64_t k_;
  Scratch<RowCut<T>> kept_;
  Scratch<T> cuts_;
};

}  // namespace heed::kernels
