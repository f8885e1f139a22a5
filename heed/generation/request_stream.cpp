#include "heed/generation/request_stream.h"

#include <chrono>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};

}  // namespace

RequestStream::RequestStream(const SequenceModel& model, const SchedulerOptions& options)
    : scheduler_(model, options) {
  scheduler_.start();
}

void RequestStream::submit(Request request) {
  const std::int64_t number = submitted_;
  request.on_done = [this, number](NBest found, std::exception_ptr error) {
    add(number, {std::move(found), std::move(error)});
  };
  scheduler_.submit(std::move(request));
  ++submitted_;
}

void RequestStream::submit_known(NBest found) { add(submitted_++, {std::move(found), {}}); }

void RequestStream::add(std::int64_t number, Result result) {
  const std::lock_guard lock(mutex_);
  done_.emplace(number, std::move(result));
  changed_.notify_all();
}

std::int64_t RequestStream::pending() const { return submitted_ - taken_; }

NBest RequestStream::next(const std::function<void()>& check) {
  HEED_CHECK(pending() > 0, "[stream] no request is pending: submit one first");
  std::unique_lock lock(mutex_);
  while (!done_.contains(taken_)) {
    changed_.wait_for(lock, kBetweenChecks);
    if (!check) continue;
    lock.unlock();
    check();
    lock.lock();
  }
  Result result = std::move(done_.extract(taken_++).mapped());
  lock.unlock();
  if (result.error) std::rethrow_exception(result.error);
  return std::move(result.found);
}

}  // namespace heed
