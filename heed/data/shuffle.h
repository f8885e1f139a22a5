// Reproducible random orders, which depend only on seed, purpose and number.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heed/base/random.h"

namespace heed {

/// The purpose of random numbers. Each purpose has its own range of streams, far from those that a
/// Generator counts up from 0 for dropout and weights.
enum class DataPurpose : std::uint64_t {
  pairs = 1,
  batches = 2,
  blocks = 3,
  sentences = 4,
  pictures = 5,
  elements = 6,
  bits = 7,
  ages = 8,
  packed_blocks = 9,
  captions = 10,
};

/// The random numbers of one purpose and number (an epoch, an update).
inline RandomStream data_stream(std::uint64_t seed, DataPurpose purpose, std::int64_t number) {
  return {seed, (static_cast<std::uint64_t>(purpose) << 56) + static_cast<std::uint64_t>(number)};
}

/// Shuffles values (Fisher and Yates).
template <typename T>
void shuffle(std::vector<T>& values, const RandomStream& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i, static_cast<std::uint32_t>(i))]);
  }
}

}  // namespace heed
