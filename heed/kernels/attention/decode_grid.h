// The grid of attention_decode: each cell is a part of the keys of one kv head against all queries
// that read it. The length of a part is fixed, so the results of a sequence do not depend on the
// rest of the batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// Keys in a part: long enough for sequential reading, short enough to split one head over threads.
inline constexpr std::int64_t kPartKeys = 1024;
/// Maximum number of queries of one head in a cell.
inline constexpr std::int64_t kDecodeQueries = 16;

struct DecodeCell {
  std::int64_t batch = 0, kv_head = 0;
  std::int64_t row = 0, queries = 0;  ///< In each query head that reads the kv head.
  std::int64_t col = 0, cols = 0;
};

/// The results of a cell. Query i of the h-th query head is row h * queries + i.
struct DecodePartial {
  float* output;  ///< [rows][Dv], relative to the references.
  float* base;    ///< [rows]: the bases of the references (weights-inl.h).
  float* top;     ///< [rows]: the rest of them, base-2 logarithms.
  float* sums;    ///< [rows]: sums of weights, relative to the references; 0 if the output is not
                  ///< written.
};

/// The results of all cells of a block.
struct DecodeResult {
  Heads<float> output, log_sum_exp;
};

class DecodeGrid {
 public:
  explicit DecodeGrid(const AttentionShape& shape) : shape_(shape) {
    std::int64_t most_queries = 0, most_keys = 0;
    for (std::int64_t b = 0; b < shape.B; ++b) {
      most_queries = std::max(most_queries, shape.queries(b));
      most_keys = std::max(most_keys, shape.keys(b));
    }
    blocks_ = (most_queries + kDecodeQueries - 1) / kDecodeQueries;
    parts_ = std::max<std::int64_t>(1, (most_keys + kPartKeys - 1) / kPartKeys);
    rows_ = shape.G == 0 ? 0 : shape.group() * std::min(most_queries, kDecodeQueries);
  }

  /// Number of blocks of queries over all kv heads; each has parts() consecutive cells.
  std::int64_t blocks() const { return shape_.B * shape_.G * blocks_; }
  std::int64_t parts() const { return parts_; }
  std::int64_t cells() const { return blocks() * parts_; }
  /// Maximum number of rows in a cell.
  std::int64_t rows() const { return rows_; }

  DecodeCell at(std::int64_t cell) const {
    const std::int64_t block = cell / parts_;
    DecodeCell at;
    at.batch = block / (shape_.G * blocks_);
    at.kv_head = block / blocks_ % shape_.G;
    at.row = block % blocks_ * kDecodeQueries;
    at.queries = std::clamp<std::int64_t>(shape_.queries(at.batch) - at.row, 0, kDecodeQueries);
    at.col = cell % parts_ * kPartKeys;
    at.cols = std::clamp<std::int64_t>(shape_.keys(at.batch) - at.col, 0, kPartKeys);
    return at;
  }

  /// Number of floats in the results of a cell.
  std::int64_t partial_size() const { return rows_ * (shape_.Dv + 3); }
  DecodePartial partial(float* memory, std::int64_t cell) const {
    float* const sums = memory + cell * partial_size();
    return {sums + 3 * rows_, sums + 2 * rows_, sums + rows_, sums};
  }

 private:
  const AttentionShape& shape_;
  std::int64_t blocks_, parts_, rows_;
};

}  // namespace heed::kernels
