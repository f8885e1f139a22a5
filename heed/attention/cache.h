// The keys and values of the positions seen so far, for decoding one token after another: appended
// at the end, dropped from the end (rewind) or from the front (a window), and reordered along the
// batch for beam search. Attention reads them where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

struct KvCacheConfig {
  std::int64_t batch = 1;           ///< B.
  std::int64_t heads = 0;           ///< G, those of keys and values.
  std::int64_t features = 0;        ///< D.
  std::int64_t value_features = 0;  ///< Dv; 0: as many as D.
  DType dtype = DType::f32;         ///< Or bf16: half the memory, half the reading; or f64.
  std::int64_t capacity = 0;        ///< Positions to make room for at once; more come as needed.
  /// Keep only the last so many positions. Of Tq queries that each see w positions, the first needs
  /// w + Tq - 1; and what is evicted does not come back by rewind.
  std::optional<std::int64_t> window = {};
};

/// What a layer of such parameters keeps: f64 for doubles, else f32.
inline DType cache_dtype(DType parameters) {
  return parameters == DType::f64 ? DType::f64 : DType::f32;
}

class KvCache {
 public:
  explicit KvCache(const KvCacheConfig& config);
  KvCache(KvCache&&) = default;
  KvCache& operator=(KvCache&&) = default;
  /// A cache of its own with the same content.
  KvCache clone() const;

  /// Adds positions: k [B, G, T, D] and v [B, G, T, Dv], floating point, converted to the cache's
  /// dtype.
  void append(const Tensor& k, const Tensor& v);
  /// Forgets the last n positions.
  void rewind(std::int64_t n);
  /// Forgets the positions from `position` on; those are counted from the very first one.
  void truncate(std::int64_t position);
  /// Forgets everything but keeps the memory.
  void clear();
  /// Sequence i becomes what sequence from[i] was; the batch may grow or shrink. Copies only
  /// sequences that move.
  void reorder(std::span<const std::int64_t> from);

  /// Positions kept.
  std::int64_t length() const { return length_; }
  /// The first position kept: how many a window has evicted.
  std::int64_t first_position() const { return first_position_; }
  std::int64_t batch() const { return batch_; }
  DType dtype() const { return keys_.dtype(); }
  const std::optional<std::int64_t>& window() const { return window_; }
  /// Bytes of memory held.
  std::size_t bytes() const;

  /// What is kept, [B, G, length, D] and [B, G, length, Dv], without a copy: the next change of the
  /// cache may change what they show.
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
  std::int64_t start_ = 0, length_ = 0;  // of what is kept, in the buffers
  std::int64_t first_position_ = 0;
  std::optional<std::int64_t> window_;
};

}  // namespace heed
