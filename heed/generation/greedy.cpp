#include "heed/generation/greedy.h"

#include <algorithm>

namespace heed {

std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan) {
  Lockstep lockstep(model, starts, plan);
  return roll_out(lockstep, 1, [](const Lockstep& now, std::span<std::int32_t> picked) {
    for (std::int64_t row = 0; row < now.rows(); ++row) {
      const std::span<const std::int32_t> best = now.likeliest(row);
      picked[static_cast<std::size_t>(row)] = best.empty() ? kernels::kNoToken : best[0];
    }
  });
}

std::vector<NBest> roll_out(Lockstep& lockstep, std::int64_t k, Sampler sampler) {
  std::vector<NBest> results(static_cast<std::size_t>(lockstep.sentences()));
  std::vector<std::int32_t> picked;
  std::vector<Extension> extensions;
  while (lockstep.rows() > 0) {
    lockstep.step(k);
    picked.resize(lockstep.sequences().size());
    sampler(lockstep, picked);
    extensions.clear();
    for (std::int64_t row = 0; row < lockstep.rows(); ++row) {
      const Extension extension{row, picked[static_cast<std::size_t>(row)]};
      if (extension.token == kernels::kNoToken) continue;
      if (const auto finish = lockstep.finish(extension)) {
        const auto sentence = static_cast<std::size_t>(lockstep.sequence(row).sentence);
        results[sentence].push_back(lockstep.finished(extension, *finish));
      } else {
        extensions.push_back(extension);
      }
    }
    lockstep.advance(extensions);
  }
  for (NBest& found : results) {
    std::stable_sort(found.begin(), found.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  }
  return results;
}

}  // namespace heed
