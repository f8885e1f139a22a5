#include "heed/generation/running_searches.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

// Operations of a search that looks at all scores, per token of the vocabulary, roughly.
constexpr std::int64_t kCost = 16;

}  // namespace

RunningSearches::RunningSearches(StepModel& model, MakeSearch make)
    : lockstep_(model), vocabulary_(model.vocabulary()), make_(make) {}

void RunningSearches::join(std::span<const SearchSentence> sentences) {
  std::vector<Running> joining;
  std::vector<SearchNeeds> needs;
  for (const SearchSentence& sentence : sentences) {
    std::unique_ptr<SentenceSearch> search = make_(sentence);
    needs.push_back(search->needs());
    joining.push_back({sentence.number, std::move(search), needs.back().all_scores});
  }
  lockstep_.join(sentences, needs);
  std::ranges::move(joining, std::back_inserter(running_));
  find_rows();
}

void RunningSearches::leave(std::int64_t number) {
  std::erase_if(running_, [&](const Running& running) { return running.number == number; });
  lockstep_.leave(number);
  find_rows();
}

const Sequence& RunningSearches::sequence_of(std::int64_t number) const {
  const auto found = std::ranges::find(running_, number, &Running::number);
  HEED_ASSERT(found != running_.end());
  return lockstep_.sequence(found->begin);
}

void RunningSearches::find_rows() {
  std::int64_t row = 0;
  for (Running& running : running_) {
    running.begin = row;
    while (row < lockstep_.rows() && lockstep_.sequence(row).sentence == running.number) ++row;
    running.end = row;
  }
  HEED_ASSERT(row == lockstep_.rows());
}

void RunningSearches::choose() {
  const bool is_costly = std::ranges::any_of(running_, &Running::has_all_scores);
  parallel_for(std::ssize(running_), is_costly ? kCost * vocabulary_ : 1, [&](std::int64_t i) {
    Running& running = running_[static_cast<std::size_t>(i)];
    running.next.clear();
    try {
      for (std::int64_t row = running.begin; row < running.end; ++row) {
        lockstep_.check_scores(row);
      }
      running.search->choose(lockstep_, running.begin, running.end, running.next);
    } catch (...) {
      running.error = std::current_exception();
      running.next.clear();
    }
  });
}

std::vector<SearchResult> RunningSearches::step() {
  lockstep_.step();
  choose();
  std::vector<SearchResult> done;
  std::vector<Extension> next;
  for (Running& running : running_) {
    next.insert(next.end(), running.next.begin(), running.next.end());
    if (!running.next.empty()) continue;
    done.push_back({running.number, running.error ? NBest() : running.search->take(),
                    std::move(running.error)});
  }
  lockstep_.advance(next);
  std::erase_if(running_, [](const Running& running) { return running.next.empty(); });
  find_rows();
  return done;
}

std::vector<NBest> run_searches(StepModel& model, std::span<const Start> starts,
                                const SearchPlan& plan, MakeSearch make) {
  const auto shared = std::make_shared<const SearchPlan>(plan);
  std::vector<SearchSentence> sentences;
  for (const Start& start : starts) sentences.push_back({std::ssize(sentences), start, shared});
  RunningSearches searches(model, make);
  searches.join(sentences);
  std::vector<NBest> results(starts.size());
  while (searches.rows() > 0) {
    for (SearchResult& done : searches.step()) {
      if (done.error) std::rethrow_exception(done.error);
      results[static_cast<std::size_t>(done.number)] = std::move(done.found);
    }
  }
  return results;
}

}  // namespace heed
