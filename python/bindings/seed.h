// Random numbers that are asked for without a seed.
#pragma once

#include <cstdint>
#include <optional>

#include "heed/base/random.h"

namespace heed::python {

/// The first stream of a seed, or the next of the process.
RandomStream stream_of(std::optional<std::uint64_t> seed);

}  // namespace heed::python
