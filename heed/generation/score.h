// Forced decoding: what the model thinks of given results. For rescoring, and for anything that
// asks how likely a text is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"

namespace heed {

/// The targets, one per sentence and without end token, with their probabilities and scores; the
/// bits are those that a search which finds them gives. Rules and lengths forbid nothing here.
std::vector<Hypothesis> score_targets(StepModel& model, std::span<const Start> starts,
                                      std::span<const std::vector<std::int32_t>> targets,
                                      const SearchPlan& plan);

}  // namespace heed
