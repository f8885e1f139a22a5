// What LSH attention keeps while it decodes: keys and values of all positions, and the positions in
// each bucket.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/attention/cache.h"
#include "heed/attention/layer.h"
#include "heed/attention/variants/lsh_order.h"

namespace heed {

struct LshStateSizes {
  std::int64_t batch = 1, heads = 1, features = 1;
  std::int64_t rounds = 1, buckets = 1, chunk = 64;
  LshReach reach = LshReach::bucket;
  bool unique = false;
  DType dtype = DType::f32;
};

class LshState : public DecodeState {
 public:
  explicit LshState(const LshStateSizes& sizes);

  void reorder(std::span<const std::int64_t> from) override;

  /// Adds positions: keys and values [B, H, T, D], buckets [B, rounds, H, T].
  void append(const Tensor& keys, const Tensor& values, const Tensor& buckets);
  Tensor keys() const { return cache_.keys(); }
  Tensor values() const { return cache_.values(); }
  std::int64_t length() const { return cache_.length(); }

  /// The keys that are visible to the newest position, as in a call on all positions so far.
  struct Seen {
    Tensor positions;  // i64 [B, H, rounds, most]
    Tensor count;      // i64 [B, H rounds, 1]: their number
    Tensor bias;       // f64 [B, H rounds, most]: added to scores; at most kLshSelfScore for itself
  };
  Seen seen_by_newest() const;

 private:
  using Positions = std::vector<std::int64_t>;

  std::int64_t lines() const { return sizes_.rounds * sizes_.heads; }
  const Positions& held(std::int64_t line, std::int64_t bucket) const;
  std::int64_t bucket_of_newest(std::int64_t line) const;
  void append_places(std::int64_t line, std::int64_t first, std::int64_t last, Positions& to) const;
  Positions seen_in(std::int64_t batch, std::int64_t round, std::int64_t head) const;
  std::int64_t rounds_with(std::span<const Positions> of_rounds, std::int64_t position) const;

  LshStateSizes sizes_;
  KvCache cache_;
  std::vector<Positions> held_;       // by sequence, line (rounds, heads) and bucket
  std::vector<std::int64_t> newest_;  // the bucket of the newest position, by sequence and line
};

}  // namespace heed
