#include "heed/generation/score.h"

#include "heed/generation/lockstep.h"

namespace heed {

std::vector<Hypothesis> score_targets(StepModel& model, std::span<const Start> starts,
                                      std::span<const std::vector<std::int32_t>> targets,
                                      const SearchPlan& plan) {
  HEED_CHECK(targets.size() == starts.size(), "[score] {} targets for {} sentences", targets.size(),
             starts.size());
  for (const std::vector<std::int32_t>& target : targets) {
    for (const std::int32_t token : target) {
      HEED_CHECK(token >= 0 && token < model.vocabulary(),
                 "[score] token {} is not among the model's {} tokens", token, model.vocabulary());
    }
  }
  Lockstep lockstep(model, starts, plan);
  std::vector<Hypothesis> results(starts.size());
  std::vector<Extension> extensions;
  for (std::size_t position = 0; lockstep.rows() > 0; ++position) {
    lockstep.step(0);
    extensions.clear();
    for (std::int64_t row = 0; row < lockstep.rows(); ++row) {
      const auto sentence = static_cast<std::size_t>(lockstep.sequence(row).sentence);
      if (position == targets[sentence].size()) {
        results[sentence] = lockstep.finished(row);
      } else {
        extensions.push_back({row, targets[sentence][position]});
      }
    }
    lockstep.advance(extensions);
  }
  return results;
}

}  // namespace heed
