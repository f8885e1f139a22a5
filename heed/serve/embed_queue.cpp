#include "heed/serve/embed_queue.h"

#include <algorithm>
#include <utility>

#include "heed/base/interrupt.h"
#include "heed/generation/request.h"
#include "heed/tensor/padding.h"

namespace heed::serve {
namespace {

constexpr std::int64_t kTextsOfBatch = 64;

}  // namespace

EmbedQueue::EmbedQueue(const TextEmbedder& embedder)
    : embedder_(embedder), thread_([this] { run(); }) {}

void EmbedQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  std::deque<Item> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(items_);
  }
  for (const Item& item : dropped) finish(*item.job, std::make_exception_ptr(Cancelled()));
}

std::int64_t EmbedQueue::submit(std::vector<ReadText> texts, Done done) {
  HEED_ASSERT(!texts.empty());
  auto job = std::make_shared<Job>();
  job->texts = std::move(texts);
  job->done = std::move(done);
  job->left = job->texts.size();
  job->vectors.resize(job->left);
  const std::lock_guard lock(mutex_);
  job->number = next_++;
  for (std::size_t i = 0; i < job->texts.size(); ++i) items_.push_back({job, i});
  changed_.notify_all();
  return job->number;
}

void EmbedQueue::cancel(std::int64_t number) {
  std::shared_ptr<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(items_, [&](const Item& item) {
      if (item.job->number != number) return false;
      dropped = item.job;
      return true;
    });
  }
  if (dropped) finish(*dropped, std::make_exception_ptr(Cancelled()));
}

std::int64_t EmbedQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(items_);
}

std::int64_t EmbedQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

// The next texts in their order, as many as fit into a batch.
std::vector<EmbedQueue::Item> EmbedQueue::take() {
  std::unique_lock lock(mutex_);
  running_ = 0;
  changed_.wait(lock, [&] { return is_ending_ || !items_.empty(); });
  std::vector<Item> batch;
  std::int64_t longest = 1;
  while (!is_ending_ && !items_.empty() && std::ssize(batch) < kTextsOfBatch) {
    const Item& item = items_.front();
    longest = std::max(longest, item.job->texts[item.index].size());
    if (!batch.empty() && longest * (std::ssize(batch) + 1) > kBatchTokens) break;
    batch.push_back(item);
    items_.pop_front();
  }
  running_ = std::ssize(batch);
  return batch;
}

void EmbedQueue::run() {
  const InterruptScope scope([this] {
    const std::lock_guard lock(mutex_);
    if (is_ending_) throw Interrupted();
  });
  for (;;) {
    const std::vector<Item> batch = take();
    if (batch.empty()) return;
    std::exception_ptr error;
    try {
      compute(batch);
    } catch (const Interrupted&) {
      error = std::make_exception_ptr(Cancelled());
    } catch (...) {
      error = std::current_exception();
    }
    for (const Item& item : batch) {
      if (error || --item.job->left == 0) finish(*item.job, error);
    }
  }
}

void EmbedQueue::compute(const std::vector<Item>& batch) {
  std::vector<ReadText> texts;
  for (const Item& item : batch) texts.push_back(item.job->texts[item.index]);
  const Tensor found = embed(embedder_, texts);  // [B, E']
  const std::int64_t E = found.size(1);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const float* const row = found.data<float>() + static_cast<std::int64_t>(i) * E;
    batch[i].job->vectors[batch[i].index].assign(row, row + E);
  }
}

// Only the first call for a job counts: it may fail, or be cancelled, while parts are computed.
void EmbedQueue::finish(Job& job, std::exception_ptr error) {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    done = std::exchange(job.done, {});
  }
  if (!done) return;
  Vectors vectors = error ? Vectors() : std::move(job.vectors);
  done(std::move(vectors), std::move(error));
}

}  // namespace heed::serve
