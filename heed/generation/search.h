// The door to the searches: the one that the options name.
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

/// Samples, or searches greedily (a beam of 1) or with a beam. The model has a row per sentence;
/// when this returns, what rows it has left is of no use. Results do not depend on what else is in
/// the batch as far as the model's rows do not.
std::vector<NBest> search(StepModel& model, std::span<const Start> starts, const SearchPlan& plan);

}  // namespace heed
