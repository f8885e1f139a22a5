// Keys and values of sequences in pages (kernels/attention/paged.h), for decoding token by token.
// Sequences may have different lengths. Reordering for beam search shares pages instead of copying
// them: a page is copied only when a sequence appends to one that others still use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/kernels/attention/paged.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct PagedCacheConfig {
  std::int64_t rows = 0;            ///< Sequences, empty at first.
  std::int64_t heads = 0;           ///< G, the heads of keys and values.
  std::int64_t features = 0;        ///< D.
  std::int64_t value_features = 0;  ///< Dv; 0: the same as D.
};

/// How queries attend to a cache.
struct PagedAttention {
  double scale = 0.0;         ///< Of scores; 0: 1 / sqrt(D).
  double soft_cap = 0.0;      ///< c: scores become c tanh(score / c); 0: none.
  Tensor* weights = nullptr;  ///< If not null, receives the weights [rows, H, 1, keys].
  std::int64_t keys = 0;      ///< Of the weights, filled up with 0; 0: as in the longest sequence.
};

class PagedCache {
 public:
  explicit PagedCache(const PagedCacheConfig& config);
  PagedCache(PagedCache&&) = default;
  PagedCache& operator=(PagedCache&&) = default;

  /// Appends positions to all sequences: k [rows, G, T, D], v [rows, G, T, Dv] of f32; only the
  /// first lengths[i] of sequence i if lengths, i64 [rows], are given.
  void append(const Tensor& k, const Tensor& v, const Tensor& lengths = {});
  /// Sequence i becomes what sequence from[i] was; there may be fewer sequences then, or more.
  void reorder(std::span<const std::int64_t> from);

  std::int64_t rows() const { return static_cast<std::int64_t>(sequences_.size()); }
  std::int64_t length(std::int64_t row) const {
    return sequences_[static_cast<std::size_t>(row)].length;
  }
  /// The length of the longest sequence.
  std::int64_t longest() const;
  /// Bytes of memory held.
  std::int64_t bytes() const;

  /// One query of each sequence attends to all its positions: q [rows, H, 1, D] -> [rows, 1, H Dv].
  Tensor attend(const Tensor& q, const PagedAttention& how = {}) const;

 private:
  struct Sequence {
    std::vector<std::int32_t> pages;
    std::int64_t length = 0;
  };
  std::int32_t take_page();
  void give_back(const Sequence& sequence);
  float* page(std::int32_t number) const;
  float* page_for_next(Sequence& sequence);

  kernels::PageShape shape_;
  std::vector<Sequence> sequences_;
  std::vector<Tensor> slabs_;         // kSlabPages pages each
  std::vector<std::int32_t> users_;   // of each page: how many sequences hold it
  std::vector<std::int32_t> unused_;  // pages without users
};

}  // namespace heed
