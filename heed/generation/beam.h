// Beam search. Each step, of all ways to extend a sentence's running hypotheses by one token,
// ordered by log-probability,
//   those that end the sentence and are among the first beam_size are finished;
//   the first beam_size that do not end it run on.
// Equal ones: that of the better hypothesis first, then that of the likelier and then lower token.
// At its greatest length a hypothesis must end. The best n_best finished ones by score are the
// result; when a sentence stops, see options.h.
#pragma once

#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"

namespace heed {

/// The n best of each sentence. With exact stopping, a beam of 1 also looks past the first end; for
/// the greedy search it is usually meant to be, see greedy.h.
std::vector<NBest> beam_search(StepModel& model, std::span<const Start> starts,
                               const SearchPlan& plan);

}  // namespace heed
