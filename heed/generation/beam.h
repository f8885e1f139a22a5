// Beam search. Each step sorts all extensions of a sentence's running hypotheses by one token by
// log-probability:
//   those that complete the sentence and are among the first beam_size are finished;
//   the first beam_size that do not complete it continue.
// Among equals, the extension of the better hypothesis comes first, then the more probable and then
// the lower token. At its maximum length a hypothesis must end. The result is the best n_best
// finished ones by score; options.h says when a sentence stops.
#pragma once

#include "heed/generation/running_searches.h"

namespace heed {

/// The search for the n best of a sentence. With exact stopping, a beam of 1 continues after the
/// first end; for plain greedy search use greedy.h.
std::unique_ptr<SentenceSearch> make_beam(const SearchSentence& sentence);

/// The same for a batch.
std::vector<NBest> beam_search(StepModel& model, std::span<const Start> starts,
                               const SearchPlan& plan);

}  // namespace heed
