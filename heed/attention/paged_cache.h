// Keys and values of sequences in pages (kernels/attention/paged.h), for decoding token by token.
// Sequences may have different lengths. Reordering for beam search shares pages instead of copying
// them: a page is copied only when a sequence appends to one that others still use. So sequences
// that begin with the same prompt share its pages too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/kernels/attention/paged.h"
#include "heed/tensor/tensor.h"

namespace heed {

using kernels::CacheForm;

struct PagedCacheConfig {
  std::int64_t rows = 0;            ///< Sequences, empty at first.
  std::int64_t heads = 0;           ///< G, the heads of keys and values.
  std::int64_t features = 0;        ///< D.
  std::int64_t value_features = 0;  ///< Dv; 0: the same as D.
  CacheForm form = CacheForm::f32;
  /// A query attends to this many last positions, its own included, and only they are kept; 0: all.
  std::int64_t window = 0;
};

/// How queries attend to a cache.
struct PagedAttention {
  double scale = 0.0;     ///< Of scores; 0: 1 / sqrt(D).
  double soft_cap = 0.0;  ///< c: scores become c tanh(score / c), bias included; 0: none.
  /// Whether the queries are at the last T positions and attend to no later ones. A cache with a
  /// window needs it.
  bool causal = false;
  /// Added to scores of causal queries: f32 [H or 1, n], the numbers of distances n - 1 to 0.
  Tensor bias = {};
  Tensor* weights = nullptr;  ///< If not null, receives the weights [rows, H, T, keys].
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
  /// Copies the sequences of another cache of the same sizes to the end of its own.
  void join(const PagedCache& other);

  std::int64_t rows() const { return static_cast<std::int64_t>(sequences_.size()); }
  std::int64_t length(std::int64_t row) const {
    return sequences_[static_cast<std::size_t>(row)].length;
  }
  /// The length of the longest sequence.
  std::int64_t longest() const;
  /// The first position that any sequence keeps; a window drops earlier ones.
  std::int64_t first_kept() const;
  /// Bytes of memory held.
  std::int64_t bytes() const;

  /// T queries of each sequence attend to its positions: q [rows, H, T, D] -> [rows, T, H Dv].
  Tensor attend(const Tensor& q, const PagedAttention& how = {}) const;

 private:
  static constexpr std::int32_t kDropped = -1;
  struct Sequence {
    std::vector<std::int32_t> pages;  // in order; the first `dropped` are kDropped
    std::int64_t length = 0;
    std::int64_t dropped = 0;
  };
  std::int32_t take_page();
  void give_back(std::int32_t number);
  void drop_before_window(Sequence& sequence);
  std::byte* page(std::int32_t number) const {
    return number == kDropped ? nullptr : pages_[static_cast<std::size_t>(number)];
  }
  std::byte* page_for_next(Sequence& sequence);

  kernels::PageShape shape_;
  std::int64_t window_;
  std::vector<Sequence> sequences_;
  std::vector<Tensor> slabs_;         // memory of some pages each
  std::vector<std::byte*> pages_;     // all pages, by number
  std::vector<std::int32_t> users_;   // of each page: how many sequences hold it
  std::vector<std::int32_t> unused_;  // pages without users
};

}  // namespace heed
