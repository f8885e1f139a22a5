// Attention of new queries to keys and values in pages (page.h): a step of decoding, or a part of a
// prompt. Sequences may have different lengths and may share pages. The query heads of a group
// share every load of a key and a value.
//
// The positions of a sequence are processed in spans of fixed length, whose results are joined in
// order. So threads can share a long sequence, and still the result of a query depends neither on
// threads, nor on other sequences, nor on the queries that are computed with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/kernels/attention/page.h"

namespace heed::kernels {

/// Positions that are processed together: one running maximum is updated for them.
inline constexpr std::int64_t kBlockPages = 4;
inline constexpr std::int64_t kBlockPositions = kBlockPages * kPagePositions;
/// Positions of a span.
inline constexpr std::int64_t kSpanPositions = 512;

/// A sequence: its pages in order, and the number of its positions. Pages that no query attends to
/// may be null.
struct PagedSequence {
  const std::byte* const* pages;
  std::int64_t length;
};

/// Numbers added to scores by the distance of query and key, for causal queries. Number n of a head
/// is for distance count - 1 - n; larger distances than count - 1 must not occur.
struct PagedBias {
  const float* numbers = nullptr;  // or null: none
  std::int64_t count = 0;
  std::int64_t head_stride = 0;  // 0: all heads share the numbers
};

/// Scores are scaled, then get their bias, then the soft cap.
struct PagedCall {
  PageShape shape;
  std::int64_t rows, H, T;         // H: heads of queries, a multiple of G; T: queries of a sequence
  const PagedSequence* sequences;  // [rows]
  const float* q;                  // [rows, H, T, D], features adjacent
  std::int64_t q_row, q_head, q_position;  // its strides
  float* output;                           // [rows, T, H, Dv], contiguous
  float scale = 1.0f;
  float soft_cap = 0.0f;     // c: scores become c tanh(score / c); 0: none
  bool causal = false;       // the queries are at the last T positions and attend to earlier ones
  std::int64_t window = 0;   // causal: attends to this many positions, its own included; 0: all
  PagedBias bias = {};       // causal
  float* weights = nullptr;  // [rows, H, T, weights_stride] with 0 for other keys, or null
  std::int64_t weights_stride = 0;

  /// The positions [begin, end) that query t of a sequence attends to.
  std::int64_t end(std::int64_t row, std::int64_t t) const {
    return causal ? sequences[row].length - T + t + 1 : sequences[row].length;
  }
  std::int64_t begin(std::int64_t row, std::int64_t t) const {
    const std::int64_t last = end(row, t);
    return window > 0 && last > window ? last - window : 0;
  }
};

/// Computes all queries on all threads. A query without positions gives zeros.
void attention_paged(const PagedCall& call);

}  // namespace heed::kernels
