// Rows of one head as rows of whole vectors: read in place if they are, else from a padded copy;
// and back again.
#if defined(HEED_KERNELS_ATTENTION_PADDED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_PADDED_ROWS_INL_H_
#undef HEED_KERNELS_ATTENTION_PADDED_ROWS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_PADDED_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/kernels/attention/transpose-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

template <typename T>
class PaddedRows {
 public:
  /// `from` has `width` features, padded to `padded_width`; there are at most `count` rows.
  PaddedRows(RowsOf<const T> from, std::int64_t count, std::int64_t width,
             std::int64_t padded_width)
      : from_(from),
        width_(width),
        padded_width_(padded_width),
        copy_(width == padded_width ? 0 : count * padded_width) {}

  /// Makes rows [begin, end) readable.
  void pad(std::int64_t begin, std::int64_t end) {
    if (width_ == padded_width_) return;
    for (std::int64_t r = begin; r < end; ++r) {
      T* const to = copy_.data() + r * padded_width_;
      std::copy_n(from_.row(r), width_, to);
      std::fill(to + width_, to + padded_width_, T(0));
    }
  }
  RowsOf<const T> at(std::int64_t row) const {
    if (width_ == padded_width_) return {from_.row(row), from_.stride};
    return {copy_.data() + row * padded_width_, padded_width_};
  }

 private:
  RowsOf<const T> from_;
  std::int64_t width_, padded_width_;
  Scratch<T> copy_;
};

/// Stores the first n numbers of a row times `scale`, or adds them to what is there. Adding rounds
/// twice, as if the row were stored and added later.
template <typename T>
HWY_INLINE void put_row(const T* from, std::int64_t n, T scale, bool add, T* to) {
  map_row<Whole, T>(n, [=](auto part, std::int64_t i) HWY_ATTR {
    const auto x = hn::Mul(part.load(from + i), hn::Set(TagOf<T>(), scale));
    part.store(add ? hn::Add(part.load(to + i), x) : x, to + i);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
