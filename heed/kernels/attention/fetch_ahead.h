// Memory that will be wanted soon, asked into L2 a few rows at a time. Of 200 lines asked at once
// most were still far when a block of queries later they were read; a few at a time come (Zen 4).
#pragma once

#include <array>
#include <cstdint>

#include "heed/base/error.h"

namespace heed::kernels {

class FetchAhead {
 public:
  /// Rows of `cols` floats at a distance of `stride` from one another, after what is waiting.
  void add(const float* data, std::int64_t stride, std::int64_t rows, std::int64_t cols) {
    if (rows <= 0 || cols <= 0) return;
    HEED_ASSERT(count_ < ranges_.size());
    ranges_[count_++] = {data, stride, rows, cols};
  }
  /// Forgets what is waiting.
  void clear() { count_ = next_ = 0; }

  /// The next rows, if there are any; called by a product between its blocks of registers. Four
  /// rows a time, enough for the values too, gained less: 13 instead of 16 % with 16384 keys.
  void some() {
    for (int row = 0; row < kRows && next_ < count_; ++row) {
      Range& range = ranges_[next_];
      for (std::int64_t i = 0; i < range.cols; i += kLineFloats) {
        __builtin_prefetch(range.data + i, 0, 2);
      }
      range.data += range.stride;
      if (--range.rows == 0) ++next_;
    }
  }

 private:
  static constexpr int kRows = 2;
  static constexpr std::int64_t kLineFloats = 16;
  struct Range {
    const float* data;
    std::int64_t stride, rows, cols;
  };
  std::array<Range, 4> ranges_;
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace heed::kernels
