// Locality-sensitive hashing for attention (Kitaev, Kaiser and Levskaya 2020, Reformer): vectors
// that point the same way fall into the same bucket, positions are sorted by bucket, and each sees
// those beside it in the order. All of it without gradient; lsh.h is the layer.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// What directions are drawn for.
struct LshDirections {
  std::int64_t heads = 1, features = 1, rounds = 1, buckets = 2;
  std::uint64_t seed = 0;
};
/// Random ones, the same for the same seed: f32 [H, D, rounds * buckets / 2].
Tensor lsh_directions(const LshDirections& of);

/// argmax of [x R; -x R] for each round's R: x [B, H, T, D] -> i64 [B, rounds, H, T].
Tensor lsh_buckets(const Tensor& x, const Tensor& directions, std::int64_t rounds);

/// Positions in the order of their buckets, earlier ones first in each, and the interval of that
/// order which each sees. All i64 [B, rounds, H, T].
struct LshOrder {
  Tensor order;        ///< The position at each place.
  Tensor place;        ///< The place of each position.
  Tensor first, last;  ///< By place: it sees places [first, last).
};

/// How far a position sees.
struct LshReach {
  std::int64_t buckets = 1;
  /// Places in a chunk: a position sees what its own chunk of the order and the one before hold of
  /// its bucket. If causal, it sees itself and up to so many places before it in its bucket: these
  /// lie in the same two chunks, but what follows in the sequence cannot move where they begin.
  std::int64_t chunk = 64;
  bool causal = false;
};

/// The order of buckets [B, rounds, H, T]. Positions beyond lengths i64 [B], if these are defined,
/// come last and neither see nor are seen.
LshOrder lsh_order(const Tensor& buckets, const Tensor& lengths, const LshReach& reach);

}  // namespace heed
