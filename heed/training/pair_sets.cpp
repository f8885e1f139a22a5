#include "heed/training/pair_sets.h"

#include "heed/base/error.h"

namespace heed {

ParallelText open_pairs(const std::vector<std::string>& sets, const TrainConfig& config) {
  const ParallelTextOptions options{.on_bad = config.on_bad};
  if (sets.size() == 1) return {sets[0], TextColumns{}, options};
  return {sets[0], sets[1], options};
}

void note_corpus(const std::string& name, const ParallelText& text, const ParallelCorpus& corpus,
                 std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: {}; {}", name, describe(text.report()), describe(corpus.report())));
  HEED_CHECK(corpus.size() > 0, "[train] {}: no pair of sentences is left; {}", name, notes.back());
}

}  // namespace heed
