// The entry point of the searches: runs the one that the options name.
//
//   const SearchPlan plan = make_plan({.beam_size = 4}, tokenizer.special());
//   for (const NBest& found : search(model, starts, plan)) tokenizer.decode(found[0].tokens);
#pragma once

#include "heed/generation/running_searches.h"

namespace heed {

/// The search that a sentence's options name, for RunningSearches.
std::unique_ptr<SentenceSearch> make_search(const SearchSentence& sentence);

/// Samples, or searches greedily (a beam of 1) or with a beam. The model has one row per sentence
/// and must not be used afterwards. Results do not depend on the other sentences of the batch as
/// long as the model's rows do not.
std::vector<NBest> search(StepModel& model, std::span<const Start> starts, const SearchPlan& plan);

}  // namespace heed
