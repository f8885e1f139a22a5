// Measurements of memory: each in a process of its own, since a peak of residence is never
// forgotten. heed_bench starts itself with hidden arguments.
#pragma once

#include <string>

namespace heed::bench {

/// The most bytes that this process was resident with so far.
double peak_resident_bytes();

/// Starts this program with those arguments and returns the number that it prints.
double number_of_fresh_process(const std::string& arguments);

}  // namespace heed::bench
