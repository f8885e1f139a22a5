// Stop strings: texts at which generation ends. The result ends before them. A stop string may
// begin and end inside tokens, so it is looked for in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed {

/// Where the first of the stop strings in a text begins.
std::optional<std::size_t> find_stop(std::string_view text, std::span<const std::string> stops);

/// The number of bytes at the end of a text that may be the beginning of a stop string.
std::size_t count_held_back(std::string_view text, std::span<const std::string> stops);

/// A function that is true if the text of generated tokens has a stop string, for SearchPlan::stop:
/// it is called after every token, so it reads only the last ones. The tokenizer must outlive it.
/// `prompt` are the tokens before the generated ones; a stop string does not begin in them.
std::function<bool(std::span<const std::int32_t> tokens)> stop_at(
    const Tokenizer& tokenizer, std::vector<std::string> stops,
    std::span<const std::int32_t> prompt);

}  // namespace heed
