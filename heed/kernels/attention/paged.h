// Attention of one query of each sequence to keys and values in pages: a decoding step. A page
// holds 16 positions of one sequence. The keys of a full page are transposed, so that one vector
// holds a feature of neighbouring positions: scores are sums of vectors, without sums across lanes.
// The last page, while it has room, holds keys one after another, so that a new key touches few
// cache lines. Sequences may have different lengths and may share pages. The result of a sequence
// does not depend on the others.
#pragma once

#include <cstdint>

namespace heed::kernels {

inline constexpr std::int64_t kPagePositions = 16;

/// The sizes of a cache, and the layout of its pages: for each head keys [D, 16], or [16, D] while
/// there is room, then for each head values [16, padded Dv].
struct PageShape {
  std::int64_t G;      ///< Heads of keys and values.
  std::int64_t D, Dv;  ///< Features of keys and of values.

  std::int64_t padded_values() const { return (Dv + 15) / 16 * 16; }
  std::int64_t key_floats() const { return D * kPagePositions; }                  // of a head
  std::int64_t value_floats() const { return padded_values() * kPagePositions; }  // of a head
  std::int64_t floats() const { return G * (key_floats() + value_floats()); }
};

/// A sequence: its pages in order, and the number of its positions.
struct PagedSequence {
  const float* const* pages;
  std::int64_t length;
};

struct PagedCall {
  PageShape shape;
  std::int64_t rows, H;            // H: heads of queries, a multiple of G
  const PagedSequence* sequences;  // [rows]
  const float* q;                  // [rows, H, D]
  std::int64_t q_stride;           // of rows; heads are adjacent
  float* output;                   // [rows, H, Dv], contiguous
  float scale = 1.0f;
  float soft_cap = 0.0f;     // c: scores become c tanh(score / c); 0: none
  float* weights = nullptr;  // [rows, H, weights_stride] with 0 after a sequence's end, or null
  std::int64_t weights_stride = 0;
};

/// Computes all rows on all threads. A sequence without positions gives zeros.
void attention_paged(const PagedCall& call);

/// Writes position `slot` of a page, which must be the next one: head g is at k + g * k_stride,
/// [D], and v + g * v_stride, [Dv]. The last position of a page transposes its keys.
void write_position(const PageShape& shape, std::int64_t slot, const float* k,
                    std::int64_t k_stride, const float* v, std::int64_t v_stride, float* page);

/// Copies the first `count` positions of a page that has room for more.
void copy_positions(const PageShape& shape, std::int64_t count, const float* from, float* to);

}  // namespace heed::kernels
