// The end of a backward pass for stages with learned numbers: adds the sums of the cells to the
// gradient, in an order that depends on the sizes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/threads.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// Adds element i < count of every cell to place(batch, head, i); two i must not have the same
/// place.
template <typename T, typename Place>
void add_up(const StageSums<T>& sums, std::int64_t count, const Place& place) {
  constexpr std::int64_t kChunk = 256;
  const std::int64_t cells = sums.batches * sums.heads * sums.parts;
  parallel_for((count + kChunk - 1) / kChunk, kChunk * cells, [&](std::int64_t chunk) {
    const std::int64_t from = chunk * kChunk, to = std::min(count, from + kChunk);
    for (std::int64_t b = 0; b < sums.batches; ++b) {
      for (std::int64_t h = 0; h < sums.heads; ++h) {
        for (std::int64_t part = 0; part < sums.parts; ++part) {
          const T* const cell = sums.cell(b, h, part);
          for (std::int64_t i = from; i < to; ++i) place(b, h, i) += cell[i];
        }
      }
    }
  });
}

}  // namespace heed::kernels
