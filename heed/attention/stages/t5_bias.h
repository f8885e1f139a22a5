// The relative position bias of T5 (Raffel et al. 2020): a learned number per head for each bucket
// of distances; near distances have buckets of their own, far ones share them on a log scale.
#pragma once

#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/stage.h"

namespace heed {

struct T5Options {
  bool bidirectional = true;        ///< False in a decoder: keys behind the query share bucket 0.
  std::int64_t max_distance = 128;  ///< From there on all share the last bucket.
  Corner corner = Corner::top_left;
};

/// score += table[bucket(j - i), h]; table [buckets, H] as in T5's checkpoints.
Modifier t5_bias(const Tensor& table, T5Options options = {});

/// The bucket, of so many, of a key at `distance` = j - i from the query.
std::int64_t t5_bucket(std::int64_t distance, std::int64_t buckets, const T5Options& options);

}  // namespace heed
