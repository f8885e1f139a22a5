// Many threads that call everything at once.
#pragma once

#include <cstdint>
#include <string>

namespace heed::torture {

/// Runs random cases and shared objects on that many threads for that many seconds. Throws Wrong
/// for the first failure; returns what was done.
std::string run_threads(std::uint64_t seed, int threads, double seconds);

}  // namespace heed::torture
