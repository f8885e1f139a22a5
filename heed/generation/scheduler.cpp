#include "heed/generation/scheduler.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

// A batch of its own pays from about this many sentences: with fewer, the weights are read from
// memory for too little work, and threads that share one batch read them once.
constexpr std::int64_t kSentencesOfWorker = 16;

std::int64_t allowed_bytes(const SchedulerOptions& options) {
  if (options.cache_megabytes) return *options.cache_megabytes * kMegabyte;
  return available_memory().value_or(std::numeric_limits<std::int64_t>::max()) / 2;
}

SchedulerOptions checked(const SchedulerOptions& options) {
  options.validate();
  return options;
}

// The most sequences that a sentence has at once.
std::int64_t sequences_of(const SearchOptions& options) {
  return options.method == SearchMethod::sample ? options.n_best : options.beam_size;
}

}  // namespace

Scheduler::Scheduler(const SequenceModel& model, const SchedulerOptions& options)
    : model_(model),
      options_(checked(options)),
      queue_({.requests = options.queue, .bytes = allowed_bytes(options)}) {}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
  is_stopped_ = true;
  queue_.wake();
  if (thread_.joinable()) {
    // After a fork, the child has no thread to join.
    process_ == ::getpid() ? thread_.join() : static_cast<void>(std::construct_at(&thread_));
  }
  loops_.clear();
  queue_.cancel_all();
}

// ---- requests -----------------------------------------------------------------------------------

void Scheduler::check(const Request& request) const {
  HEED_CHECK(request.plan != nullptr, "[scheduler] the request has no plan: make_plan() makes one");
  HEED_CHECK(std::ssize(request.source) <= model_.max_source(),
             "[scheduler] a source of {} tokens: the model reads at most {}", request.source.size(),
             model_.max_source());
  HEED_CHECK(std::ssize(request.prompt) < model_.max_positions(),
             "[scheduler] a prompt of {} tokens: the model has {} positions; shorten it",
             request.prompt.size() + 1, model_.max_positions());
  HEED_CHECK(!request.on_token || is_single(request.plan->options),
             "[scheduler] on_token with several hypotheses: use greedy search or one sample, whose "
             "tokens are never revised");
  queue_.check(bytes_of(request));
}

std::int64_t Scheduler::submit(Request request) {
  check(request);
  const std::int64_t bytes = bytes_of(request);
  return queue_.add(std::move(request), bytes);
}

std::int64_t Scheduler::bytes_of(const Request& request) const {
  const std::int64_t longest = longest_of({.start = request.start, .plan = request.plan}) + 1;
  const std::int64_t read = std::ssize(request.prompt);
  const std::int64_t written = std::min(longest, model_.max_positions() - read);
  return model_.cache_bytes(std::ssize(request.source), read) +
         sequences_of(request.plan->options) * model_.cache_bytes(0, written);
}

// ---- loops --------------------------------------------------------------------------------------

std::int64_t Scheduler::most_loops() const { return options_.workers.value_or(num_threads()); }

std::int64_t Scheduler::wanted_loops() const {
  if (!queue_.has_next()) return 1;
  const std::int64_t least = options_.workers ? 1 : kSentencesOfWorker;
  return std::clamp<std::int64_t>(queue_.unfinished() / least, 1, most_loops());
}

// Those that have requests, and as many others as are wanted.
std::vector<StepLoop*> Scheduler::choose_loops() {
  std::vector<StepLoop*> chosen;
  const auto wanted = static_cast<std::size_t>(wanted_loops());
  while (loops_.size() < wanted) loops_.emplace_back(model_, queue_);
  for (StepLoop& loop : loops_) {
    if (loop.sentences() > 0) chosen.push_back(&loop);
  }
  for (StepLoop& loop : loops_) {
    if (loop.sentences() == 0 && chosen.size() < wanted) chosen.push_back(&loop);
  }
  return chosen;
}

void Scheduler::run(const OnStep& on_step, const std::function<bool()>& until) {
  while (queue_.unfinished() > 0 && !(until && until())) {
    const std::vector<StepLoop*> chosen = choose_loops();
    const std::int64_t side_by_side = std::ssize(chosen);
    active_ = side_by_side;
    for (std::int64_t i = 0; side_by_side > 1 && i < side_by_side; ++i) team_of(i, side_by_side);
    run_batches(side_by_side, on_step, [&](std::int64_t i, const OnStep& checked) {
      std::optional<ThreadTeam::Scope> scope;
      if (side_by_side > 1) scope.emplace(team_of(i, side_by_side));
      run_loop(*chosen[static_cast<std::size_t>(i)], side_by_side, checked, until);
    });
  }
}

// The threads are divided as evenly as possible.
ThreadTeam& Scheduler::team_of(std::int64_t loop, std::int64_t side_by_side) {
  const auto at = static_cast<std::size_t>(loop);
  const auto threads =
      static_cast<int>(std::max<std::int64_t>(1, (num_threads() + loop) / side_by_side));
  if (teams_.size() <= at) teams_.resize(at + 1);
  if (!teams_[at] || teams_[at]->size() != threads) {
    teams_[at] = std::make_unique<ThreadTeam>(threads);
  }
  return *teams_[at];
}

// Ends when there is nothing to do, and when another number of loops would use the threads better.
void Scheduler::run_loop(StepLoop& loop, std::int64_t side_by_side, const OnStep& on_step,
                         const std::function<bool()>& until) {
  while (!(until && until())) {
    if (on_step) on_step();
    const std::int64_t share = (queue_.unfinished() + side_by_side - 1) / side_by_side;
    loop.admit(std::clamp<std::int64_t>(share, 1, options_.batch_sentences), options_.batch_tokens);
    if (loop.sentences() == 0) break;
    loop.step();
    if (active_ < side_by_side || wanted_loops() > side_by_side) break;
  }
  --active_;
}

void Scheduler::start() {
  HEED_CHECK(!thread_.joinable(), "[scheduler] it runs already");
  process_ = ::getpid();
  thread_ = std::thread([this] { serve(); });
}

void Scheduler::serve() {
  const OnStep check = [this] {
    if (is_stopped_) throw Interrupted();
  };
  const InterruptScope scope(check);
  while (!is_stopped_) {
    queue_.wait_for_work();
    try {
      run(check);
    } catch (const Interrupted&) {
      return;
    } catch (...) {  // nothing of heed: requests end with it, and the next ones are tried
      for (StepLoop& loop : loops_) loop.fail(std::current_exception());
    }
  }
}

StepStatistics Scheduler::statistics() const {
  StepStatistics all;
  for (const StepLoop& loop : loops_) all += loop.statistics();
  return all;
}

std::vector<NBest> run_requests(const SequenceModel& model, const SchedulerOptions& options,
                                std::vector<Request> requests, const OnStep& on_step) {
  std::vector<NBest> results(requests.size());
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Those that take longest are not left to the end, when batches get empty.
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) {
    return requests[i].source.size() + requests[i].prompt.size();
  });
  Scheduler scheduler(model, options);
  for (const std::size_t i : order) {
    requests[i].on_done = [&, i](NBest found, std::exception_ptr error) {
      const std::lock_guard lock(mutex);
      results[i] = std::move(found);
      if (error && !first) first = error;
    };
    scheduler.submit(std::move(requests[i]));
  }
  scheduler.run(on_step, [&] {
    const std::lock_guard lock(mutex);
    return first != nullptr;
  });
  if (first) std::rethrow_exception(first);
  return results;
}

}  // namespace heed
