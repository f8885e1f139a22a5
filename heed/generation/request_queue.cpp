#include "heed/generation/request_queue.h"

#include <algorithm>

namespace heed {
namespace {

constexpr double kBytesOfMegabyte = 1 << 20;

// Calls on_done once the lock is released, since it may submit more.
void end(const QueuedRequest& job, NBest found, std::exception_ptr error) {
  if (job.request.on_done) job.request.on_done(std::move(found), std::move(error));
}

std::exception_ptr cancelled() { return std::make_exception_ptr(Cancelled()); }

}  // namespace

void RequestQueue::check(std::int64_t bytes) const {
  HEED_CHECK(bytes <= limits_.bytes,
             "[scheduler] a request needs up to {:.0f} MB for its keys and values, {:.0f} MB are "
             "allowed: shorten its result (max_length), search with fewer hypotheses (beam_size, "
             "n_best), or allow more (cache_megabytes)",
             static_cast<double>(bytes) / kBytesOfMegabyte,
             static_cast<double>(limits_.bytes) / kBytesOfMegabyte);
}

std::int64_t RequestQueue::add(Request request, std::int64_t bytes) {
  check(bytes);
  const std::lock_guard lock(mutex_);
  if (std::ssize(waiting_) >= limits_.requests) {
    throw QueueFull(
        fmt::format("[scheduler] {} requests wait already: try again later", waiting_.size()));
  }
  const std::int64_t number = next_++;
  const Place place{-request.priority, number};
  auto job = std::make_shared<QueuedRequest>();
  job->number = number;
  job->request = std::move(request);
  job->bytes = bytes;
  waiting_.emplace(place, std::move(job));
  changed_.notify_all();
  return number;
}

// A request that lacks memory is not overtaken, so that it does not wait for ever.
std::vector<QueuedPtr> RequestQueue::take(std::int64_t most, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  std::vector<QueuedPtr> taken;
  std::int64_t longest = 1;
  while (std::ssize(taken) < most && !waiting_.empty()) {
    const QueuedPtr& job = waiting_.begin()->second;
    const std::int64_t wide = std::max(longest, job->length());
    const bool fits = taken.empty() || wide <= tokens / (std::ssize(taken) + 1);
    if (!fits || reserved_ + job->bytes > limits_.bytes) break;
    longest = wide;
    reserved_ += job->bytes;
    taken_.emplace(job->number, job);
    taken.push_back(job);
    waiting_.erase(waiting_.begin());
  }
  return taken;
}

bool RequestQueue::has_next() const {
  const std::lock_guard lock(mutex_);
  return !waiting_.empty() && reserved_ + waiting_.begin()->second->bytes <= limits_.bytes;
}

void RequestQueue::finish(QueuedRequest& job, NBest found, std::exception_ptr error) {
  QueuedPtr kept;
  {
    const std::lock_guard lock(mutex_);
    const auto at = taken_.find(job.number);
    HEED_ASSERT(at != taken_.end());
    kept = at->second;
    reserved_ -= job.bytes;
    taken_.erase(at);
    changed_.notify_all();
  }
  end(*kept, std::move(found), std::move(error));
}

void RequestQueue::cancel(std::int64_t number) {
  QueuedPtr dropped;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = taken_.find(number); at != taken_.end()) at->second->is_cancelled = true;
    const auto at = std::ranges::find_if(
        waiting_, [&](const auto& entry) { return entry.second->number == number; });
    if (at == waiting_.end()) return;
    dropped = at->second;
    waiting_.erase(at);
  }
  end(*dropped, {}, cancelled());
}

void RequestQueue::cancel_all() {
  std::map<Place, QueuedPtr> dropped;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, job] : taken_) job->is_cancelled = true;
    dropped.swap(waiting_);
  }
  for (const auto& [place, job] : dropped) end(*job, {}, cancelled());
}

std::int64_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(waiting_);
}

std::int64_t RequestQueue::unfinished() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(waiting_) + std::ssize(taken_);
}

std::int64_t RequestQueue::reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

void RequestQueue::wait_for_work() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_woken_ || !waiting_.empty(); });
}

void RequestQueue::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

}  // namespace heed
