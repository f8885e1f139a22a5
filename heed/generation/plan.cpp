#include "heed/generation/plan.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed {

SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special) {
  return make_plan(options, special, {special.end});
}

SearchPlan make_plan(const SearchOptions& options, const SpecialTokens& special,
                     std::vector<std::int32_t> ends, std::span<const std::int32_t> prompt) {
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
  if (options.repetition_penalty != 1.0) {
    plan.changes.push_back(penalise_repetition(options.repetition_penalty, prompt));
  }
  if (options.presence_penalty != 0.0 || options.frequency_penalty != 0.0) {
    plan.changes.push_back(penalise_count(options.presence_penalty, options.frequency_penalty));
  }
  return plan;
}

}  // namespace heed
