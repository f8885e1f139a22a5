// How much memory is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heed {

/// Bytes that this process can still use without swapping: what the system estimates, or less if a
/// control group limits it. None if the system does not tell.
std::optional<std::int64_t> available_memory();

/// Throws heed::Error if `bytes` are more than available_memory(): "[op] what would take … GB, and
/// … GB of memory are available: remedy".
void check_memory(std::int64_t bytes, std::string_view op, std::string_view what,
                  std::string_view remedy);

}  // namespace heed
