// A prepared search: its options applied to one vocabulary.
#pragma once

#include <vector>

#include "heed/generation/options.h"
#include "heed/generation/rules.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct SearchPlan {
  SearchOptions options;
  std::int32_t end = 2;     ///< The token that ends a result.
  std::vector<Rule> rules;  ///< All of them apply; callers may add more.
};

/// Checks the options and makes rules from them: begin and padding are never chosen, unknown only
/// if allowed. A token that is both begin and end remains allowed as the end.
SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special);

}  // namespace heed
