// A table of numbers that depend on position and feature alone, computed once: computing sines
// costs far more than reading them.
#pragma once

#include <cstdint>
#include <functional>

#include "heed/attention/first_positions.h"
#include "heed/tensor/tensor.h"

namespace heed {

class CodeTable {
 public:
  using Value = std::function<double(std::int64_t position, std::int64_t feature)>;

  /// Stores the rows of positions [begin, end) in f32; all others are computed on request.
  CodeTable(std::int64_t begin, std::int64_t end, std::int64_t features, Value value);

  /// The rows of positions [first, first + count), in f32 or f64.
  Tensor rows(std::int64_t first, std::int64_t count, DType dtype) const;
  /// The same for each of B sequences: [B, count, features], or [1, count, features] if all begin
  /// at the same position.
  Tensor rows_of_each(FirstPositions first, std::int64_t B, std::int64_t count, DType dtype) const;

 private:
  Tensor make(std::int64_t first, std::int64_t count, DType dtype) const;

  std::int64_t begin_, features_;
  Value value_;
  Tensor kept_;  // [end - begin, features]
};

}  // namespace heed
