// Searches written straight from their definitions, for one sentence at a time: without a cache,
// without stopping early, sorting every possibility. What the real ones are compared with.
#pragma once

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "tests/generation/toy_model.h"

namespace heed::test {

/// One sentence as the plain searches see it.
struct PlainSentence {
  std::int64_t sentence;
  Start start;
  Scorer scorer;
};

/// Beam search as beam.h says. Exact stopping never stops before the greatest length.
NBest plain_beam(const PlainSentence& sentence, const SearchPlan& plan);

/// The likeliest token, again and again.
NBest plain_greedy(const PlainSentence& sentence, const SearchPlan& plan);

/// The best of all results there are; for a few tokens and lengths only.
NBest best_of_all(const PlainSentence& sentence, const SearchPlan& plan);

}  // namespace heed::test
