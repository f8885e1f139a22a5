// The edits of TER (Snover et al. 2006): insertions, deletions, substitutions and shifts of blocks
// of words that turn a translation into a reference. Shifts are searched greedily, with the limits
// of Tercom and sacreBLEU, because finding the true minimum is NP-hard.
#pragma once

#include <cstdint>
#include <string_view>

namespace heed::evaluation {

/// The number of edits between two sequences of word numbers.
std::int64_t count_edits(std::u32string_view hypothesis, std::u32string_view reference);

}  // namespace heed::evaluation
