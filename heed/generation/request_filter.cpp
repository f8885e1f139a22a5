#include "heed/generation/request_filter.h"

#include <algorithm>
#include <utility>

namespace heed {
namespace {

SchedulerOptions with(SchedulerOptions options, const OrderingOptions& ordering) {
  ordering.validate();
  options.batch_sentences = ordering.batch_sentences;
  options.batch_tokens = ordering.batch_tokens;
  options.queue = ordering.window;
  return options;
}

// How many requests of a window may be left when it is refilled. Who chooses a small one wants all
// answers early.
std::int64_t left_of(const OrderingOptions& ordering) {
  return ordering.window >= 4 * ordering.batch_sentences ? ordering.window / 2 : 0;
}

}  // namespace

RequestFilter::RequestFilter(const SequenceModel& model, const SchedulerOptions& options,
                             const OrderingOptions& ordering, Emit emit, OnStep on_step)
    : ordering_(ordering),
      emit_(std::move(emit)),
      on_step_(std::move(on_step)),
      scheduler_(model, with(options, ordering)) {}

void RequestFilter::add(Request request) {
  scheduler_.check(request);  // before any is computed
  waiting_.push_back({added_++, std::move(request)});
  if (scheduler_.unfinished() + std::ssize(waiting_) < ordering_.window) return;
  submit_waiting();
  compute(left_of(ordering_));
}

void RequestFilter::add_known(NBest found) { answer(added_++, std::move(found)); }

void RequestFilter::flush() {
  submit_waiting();
  compute(0);
}

void RequestFilter::submit_waiting() {
  std::ranges::stable_sort(waiting_, std::greater<>(), [](const Waiting& waiting) {
    return waiting.request.source.size() + waiting.request.prompt.size();
  });
  for (auto& [number, request] : std::exchange(waiting_, {})) {
    request.on_done = [this, number = number](NBest found, std::exception_ptr error) {
      try {
        if (error) std::rethrow_exception(error);
        answer(number, std::move(found));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    };
    scheduler_.submit(std::move(request));
  }
}

// Computes until so many requests are left.
void RequestFilter::compute(std::int64_t left) {
  scheduler_.run(on_step_, [&] {
    if (scheduler_.unfinished() <= left) return true;
    const std::lock_guard lock(mutex_);
    return error_ != nullptr;
  });
  if (error_) std::rethrow_exception(error_);
}

// Passes on the results, and later ones that waited for them.
void RequestFilter::answer(std::int64_t number, NBest found) {
  const std::lock_guard lock(mutex_);
  done_.emplace(number, std::move(found));
  while (!error_ && !done_.empty() && done_.begin()->first == emitted_) {
    NBest next = std::move(done_.extract(done_.begin()).mapped());
    emit_(emitted_++, std::move(next));
  }
}

}  // namespace heed
