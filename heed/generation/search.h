// The entry point of the searches: runs the one that the options name.
//
//   const SearchPlan plan = make_plan({.beam_size = 4}, tokenizer.special());
//   for (const NBest& found : search(model, starts, plan)) tokenizer.decode(found[0].tokens);
#pragma once

#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"

namespace heed {

/// Samples, or searches greedily (a beam of 1) or with a beam. The model has one row per sentence
/// and must not be used afterwards. Results do not depend on the other sentences of the batch as
/// long as the model's rows do not.
std::vector<NBest> search(StepModel& model, std::span<const Start> starts, const SearchPlan& plan);

}  // namespace heed
