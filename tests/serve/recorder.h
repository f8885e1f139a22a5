// A transport that keeps what it is given, for tests without sockets.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "heed/serve/exchange.h"

namespace heed::serve {

class Recorder : public Transport {
 public:
  void answer(HttpResponse response) override {
    const std::lock_guard lock(mutex_);
    answers.push_back(std::move(response));
    finish();
  }
  void begin(HttpResponse head) override {
    const std::lock_guard lock(mutex_);
    streamed += head.body;
    heads.push_back(std::move(head));
  }
  void write(std::string part) override {
    const std::lock_guard lock(mutex_);
    streamed += part;
  }
  void end() override {
    const std::lock_guard lock(mutex_);
    has_ended = true;
    finish();
  }
  void abort() override {
    const std::lock_guard lock(mutex_);
    is_aborted = true;
    finish();
  }

  /// Waits for the whole answer.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
  }

  std::vector<HttpResponse> answers, heads;
  std::string streamed;
  bool has_ended = false, is_aborted = false;

 private:
  void finish() {
    is_done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
};

}  // namespace heed::serve
