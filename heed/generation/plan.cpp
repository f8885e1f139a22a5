#include "heed/generation/plan.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed {

SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special) {
  return make_plan(options, special, {special.end});
}

SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special,
                     std::vector<std::int32_t> ends) {
  options.validate();
  HEED_CHECK(!ends.empty(), "[search] there is no end token: give at least one");
  std::vector<std::int32_t> never = {special.begin, special.padding};
  if (!options.allow_unknown) never.push_back(special.unknown);
  std::erase_if(never, [&](std::int32_t token) { return std::ranges::count(ends, token) > 0; });

  SearchPlan plan{.options = options, .ends = std::move(ends)};
  plan.rules.push_back(ban_tokens(std::move(never)));
  if (options.min_length > 0) {
    plan.rules.push_back(require_length(options.min_length, plan.ends));
  }
  if (options.no_repeat_ngram > 0) {
    plan.rules.push_back(ban_repeated_ngrams(options.no_repeat_ngram));
  }
  return plan;
}

}  // namespace heed
