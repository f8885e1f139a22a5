#include "heed/generation/search.h"

#include "heed/generation/beam.h"
#include "heed/generation/greedy.h"
#include "heed/generation/sample.h"

namespace heed {

std::vector<NBest> search(StepModel& model, std::span<const Start> starts, const SearchPlan& plan) {
  plan.options.validate();
  if (plan.options.method == SearchMethod::sample) return sample(model, starts, plan);
  if (plan.options.beam_size == 1) return greedy_search(model, starts, plan);
  return beam_search(model, starts, plan);
}

}  // namespace heed
