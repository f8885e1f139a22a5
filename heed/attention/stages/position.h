// Positions of queries among keys, for stages that depend on distance.
#pragma once

#include <cstdint>
#include <string>

#include "heed/attention/corner.h"
#include "heed/kernels/attention/program.h"

namespace heed {

/// The corner's shift, which all sequences of a call must share.
std::int64_t common_shift(const std::string& stage, Corner corner,
                          const kernels::AttentionShape& shape);

/// The distances i + shift - j that occur, from the least on: Tq + Tk - 1 of them.
struct Distances {
  std::int64_t least = 0, count = 0;
  Distances(const kernels::AttentionShape& shape, std::int64_t shift)
      : least(shift - (shape.Tk - 1)), count(shape.Tq + shape.Tk - 1) {}
};

}  // namespace heed
