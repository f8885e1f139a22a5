// One batch of a scheduler: requests join it, its sequences of different ages step together, and
// each leaves when it is done. One thread at a time uses it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generation/decoding_steps.h"
#include "heed/generation/request_queue.h"
#include "heed/generation/running_searches.h"
#include "heed/generation/sequence_model.h"

namespace heed {

/// How full the steps were.
struct StepStatistics {
  std::int64_t steps = 0;
  std::int64_t sentences = 0;  ///< Summed over steps.
  std::int64_t sequences = 0;  ///< The same with all hypotheses.
  std::int64_t starts = 0;     ///< Batches of requests that joined.

  StepStatistics& operator+=(const StepStatistics& other);
};

class StepLoop {
 public:
  /// The model and the queue must outlive it.
  StepLoop(const SequenceModel& model, RequestQueue& queue);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  /// Takes waiting requests: so that there are at most `sentences`, whose sources have at most
  /// `tokens`, padding included.
  void admit(std::int64_t sentences, std::int64_t tokens);
  /// A part of the prompts that are being read, and one more token of all sequences. An error of a
  /// request ends that request; heed::Error of the model ends all requests of the batch. Other
  /// exceptions, such as interrupts, pass through; the loop must not be used then.
  void step();
  /// Ends all its requests with an error.
  void fail(const std::exception_ptr& error);

  /// The number of requests, also of those whose prompts are being read.
  std::int64_t sentences() const;
  /// The number of sequences: all hypotheses.
  std::int64_t rows() const { return searches_->rows(); }
  const StepStatistics& statistics() const { return statistics_; }

 private:
  /// Requests that begin together; they join when their prompts are read.
  struct Starting {
    std::vector<QueuedPtr> jobs;
    std::unique_ptr<Decoding> decoding;
    std::int64_t read = 0;  // of the prompt
  };

  void start(std::span<QueuedPtr> jobs);
  void drop_cancelled();
  void read_prompts();
  bool read_some(Starting& starting, std::int64_t& budget);
  void join(Starting& starting);
  void step_all();
  void tell_tokens();
  static void tell(QueuedRequest& job, const std::vector<std::int32_t>& tokens);
  void end(std::int64_t number, NBest found, std::exception_ptr error);
  void end_all(std::span<const QueuedPtr> jobs, const std::exception_ptr& error);

  const SequenceModel& model_;
  RequestQueue& queue_;
  DecodingSteps steps_;
  std::optional<RunningSearches> searches_;  // always there
  std::deque<Starting> starting_;
  std::map<std::int64_t, QueuedPtr> running_;  // by number
  StepStatistics statistics_;
};

}  // namespace heed
