// Search with one hypothesis per sequence: each step picks one token and never revises it. Greedy
// search picks the most probable token; sample.h picks at random.
#pragma once

#include "heed/generation/running_searches.h"

namespace heed {

/// A search that extends every sequence by one token that it picks, until the sequence is complete
/// (Lockstep::finish). The results, one per copy, are sorted by score, best first.
class RollOut : public SentenceSearch {
 public:
  void choose(const Lockstep& lockstep, std::int64_t begin, std::int64_t end,
              std::vector<Extension>& extensions) final;
  NBest take() final;

 protected:
  /// Picks the next token of each row, or kernels::kNoToken where none is allowed; picked[0] is
  /// that of row `begin`.
  virtual void pick(const Lockstep& lockstep, std::int64_t begin,
                    std::span<std::int32_t> picked) const = 0;

 private:
  NBest found_;
};

/// Takes the most probable token each step.
std::unique_ptr<SentenceSearch> make_greedy(const SearchSentence& sentence);

/// The same for a batch.
std::vector<NBest> greedy_search(StepModel& model, std::span<const Start> starts,
                                 const SearchPlan& plan);

}  // namespace heed
