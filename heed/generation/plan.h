// A prepared search: its options applied to one vocabulary.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heed/generation/options.h"
#include "heed/generation/penalties.h"
#include "heed/generation/rules.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct SearchPlan {
  SearchOptions options;
  std::vector<std::int32_t> ends = {2};   ///< The tokens that end a result; at least one.
  std::vector<Rule> rules = {};           ///< All of them apply; callers may add more.
  std::vector<ScoreChange> changes = {};  ///< Applied in order; then the rules forbid tokens.
  /// True if a result ends with the last of these tokens, without an end token: a stop string.
  std::function<bool(std::span<const std::int32_t> tokens)> stop = {};
  /// Whether a result of the maximum length is complete without an end token. If not, the first of
  /// `ends` follows it and counts in its probability.
  bool is_cut = false;
  /// If not: whether that end token counts as certain, with probability 1.
  bool is_end_certain = false;
  /// Whether banned tokens have probability 0, so that the others share it. If not, probabilities
  /// are those of the model.
  bool renormalised = false;
};

/// Checks the options and makes rules from them: begin and padding are never chosen, unknown only
/// if allowed. A token that is both begin and end remains allowed as the end.
SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special);
/// The same with other tokens that end a result, which continues a prompt.
SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special,
                     std::vector<std::int32_t> ends, std::span<const std::int32_t> prompt = {});

}  // namespace heed
