// Random numbers, with or without a seed.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/base/random.h"

namespace heed::python {

/// The first stream of a seed, or the next stream of the process if there is no seed.
RandomStream stream_of(std::optional<std::uint64_t> seed);

}  // namespace heed::python
