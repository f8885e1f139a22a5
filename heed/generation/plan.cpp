#include "heed/generation/plan.h"

#include <algorithm>

namespace heed {

SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special) {
  options.validate();
  std::vector<std::int32_t> never = {special.begin, special.padding};
  if (!options.allow_unknown) never.push_back(special.unknown);
  std::erase(never, special.end);

  SearchPlan plan{.options = options, .end = special.end, .rules = {}};
  plan.rules.push_back(ban_tokens(std::move(never)));
  if (options.min_length > 0) {
    plan.rules.push_back(require_length(options.min_length, special.end));
  }
  if (options.no_repeat_ngram > 0) {
    plan.rules.push_back(ban_repeated_ngrams(options.no_repeat_ngram));
  }
  return plan;
}

}  // namespace heed
