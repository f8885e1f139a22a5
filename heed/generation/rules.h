// What a search may not choose. A rule bans tokens after a prefix; it changes no probability, so
// what a result scores is what scoring it alone gives. To change probabilities, wrap the StepModel.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heed {

/// Adds the tokens that may not follow a prefix to a list, in any order and more than once if it
/// likes. The end token may be among them; at its greatest length a sentence ends all the same.
using Rule =
    std::function<void(std::span<const std::int32_t> prefix, std::vector<std::int32_t>& banned)>;

/// These tokens never.
Rule ban_tokens(std::vector<std::int32_t> tokens);

/// No end before so many tokens.
Rule require_length(std::int64_t min_length, std::int32_t end);

/// No sequence of n tokens twice (Paulus et al. 2018); n is at least 1.
Rule ban_repeated_ngrams(std::int64_t n);

}  // namespace heed
