// Locality-sensitive hashing for attention (Kitaev, Kaiser and Levskaya 2020, Reformer): vectors of
// similar direction fall into the same bucket, positions are sorted by bucket, and each attends to
// those near it in this order. There is no gradient; lsh.h is the layer.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// The sizes and the seed of the directions.
struct LshDirections {
  std::int64_t heads = 1, features = 1, rounds = 1, buckets = 2;
  std::uint64_t seed = 0;
};
/// Random directions, the same for the same seed: f32 [H, D, rounds * buckets / 2].
Tensor lsh_directions(const LshDirections& of);

/// argmax of [x R; -x R] for the matrix R of each round: x [B, H, T, D] -> i64 [B, rounds, H, T].
Tensor lsh_buckets(const Tensor& x, const Tensor& directions, std::int64_t rounds);

/// Positions sorted by bucket, within a bucket by position, and the interval of this order that
/// each attends to. All are i64 [B, rounds, H, T].
struct LshOrder {
  Tensor order;        ///< The position at each place.
  Tensor place;        ///< The place of each position.
  Tensor first, last;  ///< By place: it attends to places [first, last).
};

/// How far a position attends.
struct LshReach {
  std::int64_t buckets = 1;
  /// Places in a chunk. A position attends to the places of its bucket in its own chunk and in the
  /// one before. If causal, it attends to itself and to at most this many places before it in its
  /// bucket: they lie in the same two chunks, but later positions cannot change where they begin.
  std::int64_t chunk = 64;
  bool causal = false;
};

/// The order of buckets [B, rounds, H, T]. Positions beyond the lengths i64 [B], if these are
/// defined, come last; they attend to no key and are hidden.
LshOrder lsh_order(const Tensor& buckets, const Tensor& lengths, const LshReach& reach);

}  // namespace heed
