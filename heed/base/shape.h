// Sizes and strides of a tensor: a short list of 64-bit integers stored inline, so that making a
// view allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "heed/base/error.h"

namespace heed {

/// The greatest rank of a tensor.
inline constexpr int kMaxRank = 8;

/// Up to kMaxRank integers; a shape (sizes) or strides (elements, not bytes).
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values)
      : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const std::int64_t> values) {
    HEED_CHECK(values.size() <= kMaxRank, "[shape] {} dimensions: at most {} are supported",
               values.size(), kMaxRank);
    rank_ = static_cast<int>(values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  static Dims filled(int rank, std::int64_t value) {
    HEED_CHECK(rank >= 0 && rank <= kMaxRank, "[shape] {} dimensions: at most {} are supported",
               rank, kMaxRank);
    Dims d;
    d.rank_ = rank;
    std::fill_n(d.values_.begin(), rank, value);
    return d;
  }

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + rank_; }
  std::int64_t back() const { return (*this)[rank_ - 1]; }
  std::span<const std::int64_t> span() const { return {begin(), end()}; }

  void push_back(std::int64_t value) {
    HEED_CHECK(rank_ < kMaxRank, "[shape] more than {} dimensions", kMaxRank);
    values_[static_cast<std::size_t>(rank_++)] = value;
  }
  void insert(int at, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --rank_;
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// The number of elements; 1 for a scalar (rank 0).
inline std::int64_t numel(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

/// Row-major strides of a shape.
inline Strides row_major(const Shape& shape) {
  Strides strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * std::max<std::int64_t>(shape[i + 1], 1);
  }
  return strides;
}

/// "[2, 3, 5]" for messages.
std::string to_string(const Dims& dims);

/// Turns an axis that may count from the end (-1 is the last) into one in [0, rank), or throws an
/// error that names the op.
int resolve_axis(const char* op, int axis, int rank);

/// The shape that two shapes broadcast to (trailing dimensions aligned, size 1 stretches); throws
/// an error that names the op if there is none.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

}  // namespace heed
