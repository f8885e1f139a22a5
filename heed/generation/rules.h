// Rules that forbid tokens in a search. A rule bans tokens after a prefix. It changes no
// probability, so a result has the same score as when it is scored alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heed {

/// Appends the tokens that may not follow a prefix to a list, in any order, repetitions allowed.
/// The end token may be among them; at its maximum length a sentence ends anyway.
using Rule =
    std::function<void(std::span<const std::int32_t> prefix, std::vector<std::int32_t>& banned)>;

/// Bans these tokens everywhere.
Rule ban_tokens(std::vector<std::int32_t> tokens);

/// Bans the end tokens before `min_length` tokens.
Rule require_length(std::int64_t min_length, std::vector<std::int32_t> ends);

/// Bans the repetition of any n tokens in sequence (Paulus et al. 2018); n is at least 1.
Rule ban_repeated_ngrams(std::int64_t n);

}  // namespace heed
