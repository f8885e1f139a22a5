// Vectors for many callers: texts of different requests are computed together, on a thread of the
// queue's own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "heed/generation/embed.h"

namespace heed::serve {

class EmbedQueue {
 public:
  using Vectors = std::vector<std::vector<float>>;
  /// Called once, on the thread of the queue: with one vector per text, or with the error that
  /// ended the work. It must be quick and not throw.
  using Done = std::function<void(Vectors vectors, std::exception_ptr error)>;

  /// The embedder must outlive it.
  explicit EmbedQueue(const TextEmbedder& embedder);
  /// Cancels what is not done.
  ~EmbedQueue() { stop(); }
  EmbedQueue(const EmbedQueue&) = delete;
  EmbedQueue& operator=(const EmbedQueue&) = delete;

  /// Adds texts, at least one; returns a number for cancel().
  std::int64_t submit(std::vector<ReadText> texts, Done done);
  /// Ends the work for these texts; its `done` gets the error Cancelled.
  void cancel(std::int64_t number);
  /// Ends the thread and cancels what is not done. Nothing may be submitted then.
  void stop();
  /// The number of texts that wait, and of those that are computed.
  std::int64_t waiting() const;
  std::int64_t running() const;

 private:
  struct Job {
    std::int64_t number;
    std::vector<ReadText> texts;
    Done done;
    Vectors vectors = {};
    std::size_t left = 0;
  };
  struct Item {
    std::shared_ptr<Job> job;
    std::size_t index;
  };
  void run();
  std::vector<Item> take();
  void compute(const std::vector<Item>& batch);
  void finish(Job& job, std::exception_ptr error);

  const TextEmbedder& embedder_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::int64_t next_ = 0, running_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace heed::serve
