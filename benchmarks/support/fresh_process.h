// Measurements of memory, each in a separate process, because the peak resident size of a process
// never decreases. heed_bench starts itself with hidden arguments.
#pragma once

#include <string>

namespace heed::bench {

/// The peak resident size of this process so far, in bytes.
double peak_resident_bytes();

/// Starts this program with these arguments and returns the number that it prints.
double number_of_fresh_process(const std::string& arguments);

}  // namespace heed::bench
