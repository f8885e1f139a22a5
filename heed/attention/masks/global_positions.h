// Positions that see all others and are seen by all (Longformer's global tokens, Beltagy et al.
// 2020): to be joined by | with what the others see.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"

namespace heed {

/// A query and a key see each other where the position of either is listed. Blocks of queries and
/// keys without one are skipped.
Mask global_positions(std::vector<std::int64_t> positions, Corner corner = Corner::top_left);

}  // namespace heed
