// The keys and values of previous positions, for decoding token by token: appended at the end,
// removed from the end (rewind) or from the front (a window), and reordered along the batch for
// beam search. Attention reads them in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

struct KvCacheConfig {
  std::int64_t batch = 1;           ///< B.
  std::int64_t heads = 0;           ///< G, the heads of keys and values.
  std::int64_t features = 0;        ///< D.
  std::int64_t value_features = 0;  ///< Dv; 0: the same as D.
  DType dtype = DType::f32;         ///< Or bf16, which halves memory and reading; or f64.
  std::int64_t capacity = 0;        ///< Positions to allocate at first; it grows as needed.
  /// Keep only this many last positions. A call of Tq queries that each attend to w positions needs
  /// w + Tq - 1. Evicted positions do not come back by rewind.
  std::optional<std::int64_t> window = {};
};

/// The dtype of the cache of a layer with such parameters: f64 for f64, else f32.
inline DType cache_dtype(DType parameters) {
  return parameters == DType::f64 ? DType::f64 : DType::f32;
}

class KvCache {
 public:
  explicit KvCache(const KvCacheConfig& config);
  KvCache(KvCache&&) = default;
  KvCache& operator=(KvCache&&) = default;
  /// A separate cache with the same content.
  KvCache clone() const;

  /// Appends positions: k [B, G, T, D] and v [B, G, T, Dv], floating point, converted to the
  /// cache's dtype.
  void append(const Tensor& k, const Tensor& v);
  /// Removes the last n positions.
  void rewind(std::int64_t n);
  /// Removes the positions from `position` on, counted from the first one ever appended.
  void truncate(std::int64_t position);
  /// Removes all positions but keeps the memory.
  void clear();
  /// Sequence i becomes the former sequence from[i]; the batch may grow or shrink. Only sequences
  /// that move are copied.
  void reorder(std::span<const std::int64_t> from);

  /// The number of positions kept.
  std::int64_t length() const { return length_; }
  /// The first position kept, which is the number of positions that a window has evicted.
  std::int64_t first_position() const { return first_position_; }
  std::int64_t batch() const { return batch_; }
  DType dtype() const { return keys_.dtype(); }
  const std::optional<std::int64_t>& window() const { return window_; }
  /// Bytes of memory held.
  std::size_t bytes() const;

  /// The kept keys [B, G, length, D] and values [B, G, length, Dv], as views: the next change of
  /// the cache may change them.
  Tensor keys() const { return kept(keys_); }
  Tensor values() const { return kept(values_); }

 private:
  KvCache() = default;
  std::int64_t slots() const { return keys_.size(0); }
  std::int64_t capacity() const { return keys_.size(2); }
  Tensor kept(const Tensor& buffer) const;
  void check(const char* name, const Tensor& x, const Tensor& buffer) const;
  void make_room(std::int64_t last, std::int64_t added);
  void move_slots(std::span<const std::int64_t> from);

  Tensor keys_, values_;  // [slots, G, capacity, D or Dv]; slots >= batch
  std::int64_t batch_ = 0;
  std::int64_t start_ = 0, length_ = 0;  // of the kept positions in the buffers
  std::int64_t first_position_ = 0;
  std::optional<std::int64_t> window_;
};

}  // namespace heed
