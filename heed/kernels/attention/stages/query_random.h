// Random numbers for single weights: functions of seed, stream, batch, head, query and key alone,
// not of tiles, threads or the instruction set. query_philox-inl.h computes them in vectors.
#pragma once

#include <array>
#include <cstdint>

#include "heed/base/random.h"

namespace heed::kernels {

/// Rounds of Philox for single weights: with ten rounds, dropout took a tenth of the forward pass.
inline constexpr int kQueryPhiloxRounds = 7;

/// The random numbers of one head.
inline RandomStream random_of_head(RandomStream random, std::int64_t batch, std::int64_t head) {
  const auto place = static_cast<std::uint64_t>(batch) << 32 | static_cast<std::uint32_t>(head);
  const auto words = philox(random.seed, random.stream, place);
  return {std::uint64_t{words[1]} << 32 | words[0], random.stream};
}

/// The random words of a query for a group of keys; `head` is from random_of_head.
inline std::array<std::uint32_t, 4> query_words(RandomStream head, std::int64_t query,
                                                std::int64_t group) {
  const std::uint64_t block =
      static_cast<std::uint64_t>(group) << 32 | static_cast<std::uint32_t>(query);
  return philox(head.seed, head.stream, block, kQueryPhiloxRounds);
}

}  // namespace heed::kernels
