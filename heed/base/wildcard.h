// Patterns of names in which `*` stands for any text, as in "encoder.layers.*.norm1.*".
#pragma once

#include <string_view>

namespace heed {

/// Whether a text matches a pattern. The time is at most the product of their lengths.
bool matches_wildcard(std::string_view pattern, std::string_view text);

}  // namespace heed
