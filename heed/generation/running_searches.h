// The searches of sentences that run together on one model. Each sentence has a search of its own,
// which chooses tokens; sentences join between two steps and leave with their results.
//
//   RunningSearches searches(model);
//   searches.join(sentences);              // the model has a new row for each
//   while (searches.rows() > 0) {
//     for (SearchResult& done : searches.step()) …
//   }
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "heed/generation/lockstep.h"

namespace heed {

/// The search for the results of one sentence.
class SentenceSearch {
 public:
  virtual ~SentenceSearch() = default;
  virtual SearchNeeds needs() const = 0;
  /// After a step, chooses the next tokens of the sentence, whose sequences are the rows [begin,
  /// end): appends the extensions that go on, and keeps those that are complete as results. None
  /// goes on: the search is done. Calls for different sentences may run at the same time.
  virtual void choose(const Lockstep& lockstep, std::int64_t begin, std::int64_t end,
                      std::vector<Extension>& extensions) = 0;
  /// The results, best first, when the search is done.
  virtual NBest take() = 0;
};

/// Makes the search of a sentence.
using MakeSearch = std::unique_ptr<SentenceSearch> (*)(const SearchSentence& sentence);

/// The result of one sentence.
struct SearchResult {
  std::int64_t number;
  NBest found;
  std::exception_ptr error = {};  ///< Why there is none; it concerns this sentence alone.
};

class RunningSearches {
 public:
  /// The model must outlive it. `make` is that of search.h unless a test wants another.
  explicit RunningSearches(StepModel& model, MakeSearch make);

  /// Adds sentences, of which the model has a row each, in order, after its other rows.
  void join(std::span<const SearchSentence> sentences);
  /// One more token for all sequences; returns the sentences that are done, which have left.
  std::vector<SearchResult> step();
  /// Drops a sentence.
  void leave(std::int64_t number);

  std::int64_t rows() const { return lockstep_.rows(); }
  /// The first sequence of a sentence that runs; for greedy search and one sample, the only one.
  const Sequence& sequence_of(std::int64_t number) const;

 private:
  struct Running {
    std::int64_t number;
    std::unique_ptr<SentenceSearch> search;
    bool has_all_scores;
    std::int64_t begin = 0, end = 0;  // its rows
    std::vector<Extension> next = {};
    std::exception_ptr error = {};
  };
  void choose();
  void find_rows();

  Lockstep lockstep_;
  std::int64_t vocabulary_;
  MakeSearch make_;
  std::vector<Running> running_;  // in the order of their rows
};

/// Runs the searches of a batch to their ends. The model has one row per sentence and must not be
/// used afterwards.
std::vector<NBest> run_searches(StepModel& model, std::span<const Start> starts,
                                const SearchPlan& plan, MakeSearch make);

}  // namespace heed
