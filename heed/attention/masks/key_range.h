// A stretch of keys that every query sees.
#pragma once

#include <cstdint>

#include "heed/attention/mask.h"

namespace heed {

/// Queries see keys [first, last); it may reach beyond the keys that exist.
Mask key_range(std::int64_t first, std::int64_t last);

}  // namespace heed
