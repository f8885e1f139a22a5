#include "heed/generation/greedy.h"

#include <algorithm>

namespace heed {

std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan) {
  Lockstep lockstep(model, starts, plan);
  return roll_out(lockstep, plan, 1, [](const Lockstep& now, std::span<std::int32_t> picked) {
    for (std::int64_t row = 0; row < now.rows(); ++row) {
      const std::span<const std::int32_t> best = now.likeliest(row);
      picked[static_cast<std::size_t>(row)] = best.empty() ? kernels::kNoToken : best[0];
    }
  });
}

std::vector<NBest> roll_out(Lockstep& lockstep, const SearchPlan& plan, std::int64_t k,
                            Sampler sampler) {
  std::vector<NBest> results(static_cast<std::size_t>(lockstep.sentences()));
  std::vector<std::int32_t> picked;
  std::vector<Extension> extensions;
  while (lockstep.rows() > 0) {
    lockstep.step(k);
    picked.resize(lockstep.sequences().size());
    sampler(lockstep, picked);
    extensions.clear();
    for (std::int64_t row = 0; row < lockstep.rows(); ++row) {
      const std::int32_t token = picked[static_cast<std::size_t>(row)];
      if (token == plan.end) {
        const auto sentence = static_cast<std::size_t>(lockstep.sequence(row).sentence);
        results[sentence].push_back(lockstep.finished(row));
      } else if (token != kernels::kNoToken) {
        extensions.push_back({row, token});
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
