// Locality-sensitive hashing for attention (Kitaev, Kaiser and Levskaya 2020, Reformer): vectors of
// similar direction fall into the same bucket, positions are sorted by bucket, and each attends to
// those near it in this order. There is no gradient; lsh.h is the layer.
#pragma once

#include <array>
#include <cstdint>

#include "heed/base/random.h"
#include "heed/io/codec.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The sizes and the seed of the directions.
struct LshDirections {
  std::int64_t heads = 1, features = 1, rounds = 1, buckets = 2;
  std::uint64_t seed = 0;
  /// If greater than 1, a bucket is a pair: the first hash has `buckets` values, the second this
  /// many. There are buckets * factor buckets for (buckets + factor) / 2 directions.
  std::int64_t factor = 1;

  /// Directions of one round.
  std::int64_t width() const { return buckets / 2 + factor / 2; }
};
/// Random directions, the same for the same seed: f32 [H, D, rounds * width].
Tensor lsh_directions(const LshDirections& of);
/// The same from the next stream of a generator; the seed has no effect.
Tensor lsh_directions(const LshDirections& of, Generator& generator);

/// argmax of [x R; -x R] for the matrix R of each round: x [B, H, T, D] -> i64 [B, rounds, H, T].
/// With a factor, the first hash plus `buckets` times the second.
Tensor lsh_buckets(const Tensor& x, const Tensor& directions, std::int64_t rounds,
                   std::int64_t factor = 1);

/// Positions sorted by bucket, within a bucket by position, and the interval of this order that
/// each attends to. All are i64 [B, rounds, H, T].
struct LshOrder {
  Tensor order;        ///< The position at each place.
  Tensor place;        ///< The place of each position.
  Tensor first, last;  ///< By place: it attends to places [first, last).
};

/// Which places a position attends to.
enum class LshReach : std::uint8_t {
  /// Those of its bucket, in its own chunk and in the one before. If causal, itself and at most
  /// `chunk` places before it in its bucket: they lie in the same two chunks, but later positions
  /// cannot change where they begin.
  bucket,
  /// Those of its bucket, in its own chunk and in the one before; if causal, the earlier ones of
  /// them, as in the paper. Where chunks begin depends on later positions too.
  chunk,
  /// All of its own chunk and of the one before, whatever their bucket, as Trax and transformers
  /// do. The chunk before the first is the last one of the round before. Here first and last are
  /// places among the keys of lsh_mixed_keys().
  mixed,
};

/// The names that configs use.
constexpr std::array<io::EnumName<LshReach>, 3> enum_names(LshReach) {
  return {{{LshReach::bucket, "bucket"}, {LshReach::chunk, "chunk"}, {LshReach::mixed, "mixed"}}};
}

/// How far a position attends.
struct LshSight {
  std::int64_t buckets = 1;  ///< All of them, pairs included.
  std::int64_t chunk = 64;   ///< Places in a chunk.
  bool causal = false;
  LshReach reach = LshReach::bucket;
};

/// The order of buckets [B, rounds, H, T]. Positions beyond the lengths i64 [B], if these are
/// defined, come last; they attend to no key and are hidden.
LshOrder lsh_order(const Tensor& buckets, const Tensor& lengths, const LshSight& sight);

/// For LshReach::mixed, the positions of keys i64 [B, rounds, H, chunk + T]: the last chunk of the
/// round before (for the first round, of the last one) and then the positions in order; -1 where
/// there is none. If T is at most a chunk, the first chunk is empty.
Tensor lsh_mixed_keys(const LshOrder& order, std::int64_t chunk);

}  // namespace heed
