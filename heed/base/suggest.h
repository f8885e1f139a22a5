// Finds the word that a user probably meant, for messages such as "unknown key 'lerning_rate': did
// you mean 'learning_rate'?".
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace heed {

/// The number of single-character insertions, deletions, replacements and swaps of neighbours that
/// turn one word into the other (the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to the word, ignoring case (the first one if several are equally close),
/// or empty if none is close enough to be a likely typing error.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace heed
