// Prefetches memory that will be needed soon into L2, a few rows at a time. Of 200 cache lines
// requested at once, most had not arrived when they were read one block of queries later; requests
// of a few at a time arrive (Zen 4).
#pragma once

#include <array>
#include <cstdint>

#include "heed/base/error.h"

namespace heed::kernels {

class FetchAhead {
 public:
  /// Appends rows of `cols` elements, `stride` apart, to the queue.
  template <typename T>
  void add(const T* data, std::int64_t stride, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t kBytes = sizeof(T);
    if (rows <= 0 || cols <= 0) return;
    HEED_ASSERT(count_ < ranges_.size());
    ranges_[count_++] = {reinterpret_cast<const char*>(data), stride * kBytes, rows, cols * kBytes};
  }
  /// Empties the queue.
  void clear() { count_ = next_ = 0; }

  /// Prefetches the next rows, if there are any; called by a product between its blocks of
  /// registers. Four rows at a time, enough for the values too, gained less: 13 instead of 16 %
  /// with 16384 keys.
  void some() {
    for (int row = 0; row < kRows && next_ < count_; ++row) {
      Range& range = ranges_[next_];
      for (std::int64_t i = 0; i < range.bytes; i += kLineBytes) {
        __builtin_prefetch(range.data + i, 0, 2);
      }
      range.data += range.stride;
      if (--range.rows == 0) ++next_;
    }
  }

 private:
  static constexpr int kRows = 2;
  static constexpr std::int64_t kLineBytes = 64;
  struct Range {
    const char* data;
    std::int64_t stride, rows, bytes;
  };
  std::array<Range, 4> ranges_;
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace heed::kernels
