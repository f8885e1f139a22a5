#include "heed/generation/search.h"

#include "heed/generation/beam.h"
#include "heed/generation/greedy.h"
#include "heed/generation/sample.h"

namespace heed {

std::unique_ptr<SentenceSearch> make_search(const SearchSentence& sentence) {
  const SearchOptions& options = sentence.plan->options;
  if (options.method == SearchMethod::sample) return make_sampler(sentence);
  return options.beam_size == 1 ? make_greedy(sentence) : make_beam(sentence);
}

std::vector<NBest> search(StepModel& model, std::span<const Start> starts, const SearchPlan& plan) {
  plan.options.validate();
  return run_searches(model, starts, plan, make_search);
}

}  // namespace heed
