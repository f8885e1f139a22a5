#include "heed/generation/greedy.h"

#include <algorithm>

namespace heed {
namespace {

class Greedy : public RollOut {
 public:
  SearchNeeds needs() const override { return {}; }

 protected:
  void pick(const Lockstep& lockstep, std::int64_t begin,
            std::span<std::int32_t> picked) const override {
    for (std::size_t i = 0; i < picked.size(); ++i) {
      const auto best = lockstep.likeliest(begin + static_cast<std::int64_t>(i));
      picked[i] = best.empty() ? kernels::kNoToken : best[0];
    }
  }
};

}  // namespace

void RollOut::choose(const Lockstep& lockstep, std::int64_t begin, std::int64_t end,
                     std::vector<Extension>& extensions) {
  std::vector<std::int32_t> picked(static_cast<std::size_t>(end - begin));
  pick(lockstep, begin, picked);
  for (std::int64_t row = begin; row < end; ++row) {
    const Extension extension{row, picked[static_cast<std::size_t>(row - begin)]};
    if (extension.token == kernels::kNoToken) continue;
    if (const auto finish = lockstep.finish(extension)) {
      found_.push_back(lockstep.finished(extension, *finish));
    } else {
      extensions.push_back(extension);
    }
  }
}

NBest RollOut::take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return std::move(found_);
}

std::unique_ptr<SentenceSearch> make_greedy(const SearchSentence&) {
  return std::make_unique<Greedy>();
}

std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan) {
  return run_searches(model, starts, plan, make_greedy);
}

}  // namespace heed
