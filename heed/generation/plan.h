// A search made ready: its options and what they mean for one vocabulary.
#pragma once

#include <vector>

#include "heed/generation/options.h"
#include "heed/generation/rules.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct SearchPlan {
  SearchOptions options;
  std::int32_t end = 2;     ///< The token that ends a result.
  std::vector<Rule> rules;  ///< All of them hold; add your own.
};

/// Checks the options and makes rules of them: begin and padding are never chosen, unknown only if
/// allowed. Where one token is begin and end it stays the end.
SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special);

}  // namespace heed
