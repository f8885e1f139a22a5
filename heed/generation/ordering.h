// A filter that works in batches and returns results in the order of the inputs. Sentences wait in
// a window; when it is full, or on flush(), they are sorted by length into batches with little
// padding, and each result is passed on as soon as all earlier ones have been.
//
//   OrderedFilter<Sentence, Translation> filter({.window = 1000}, translate_batch, print);
//   while (read(sentence)) filter.add(sentence, length_of(sentence));
//   filter.flush();
//
// The window limits how far the results of a pipe lag after its inputs. If the caller waits for the
// result before sending the next input, call flush() after each input.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/workers.h"
#include "heed/io/fields.h"
#include "heed/tensor/padding.h"

namespace heed {

struct OrderingOptions {
  std::int64_t window = 1000;                // sentences sorted together
  std::int64_t batch_tokens = kBatchTokens;  // of a batch: number of sentences times the longest
  std::int64_t batch_sentences = 64;         // sentences of a batch

  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits.
  void validate() const;
};

/// The indices of a window's sentences, grouped into batches of similar lengths, the longest
/// sentence first in each. The batch with the earliest sentence comes first, then the one with the
/// earliest of the others. A sentence longer than batch_tokens is a batch by itself.
std::vector<std::vector<std::int64_t>> plan_batches(std::span<const std::int64_t> lengths,
                                                    const OrderingOptions& options);

/// Plans batches and runs them (workers.h): run(places, on_step) for each.
void for_batches(
    std::span<const std::int64_t> lengths, const OrderingOptions& options, const OnStep& on_step,
    FunctionRef<void(std::span<const std::int64_t> places, const OnStep& on_step)> run);

template <typename Input, typename Output>
class OrderedFilter {
 public:
  /// An input and its number, counted from 0 over the life of the filter.
  struct Item {
    std::int64_t number;
    Input input;
  };
  /// Returns the outputs of a batch, in the order of the batch; calls on_step before each step of a
  /// search, if there are steps. Several batches may run at the same time (workers.h).
  using Run =
      std::function<std::vector<Output>(std::span<const Item> batch, const OnStep& on_step)>;
  /// Receives the output of input `number`; called with 0, 1, 2, …
  using Emit = std::function<void(std::int64_t number, Output output)>;

  OrderedFilter(const OrderingOptions& options, Run run, Emit emit, OnStep on_step = {})
      : options_(options),
        run_(std::move(run)),
        emit_(std::move(emit)),
        on_step_(std::move(on_step)) {
    options_.validate();
  }

  /// Adds the next input, of that many tokens; runs the window if it is then full.
  void add(Input input, std::int64_t length) {
    const std::int64_t number = emitted_ + std::ssize(waiting_);
    waiting_.push_back({number, std::move(input)});
    lengths_.push_back(length);
    if (std::ssize(waiting_) >= options_.window) flush();
  }

  /// Runs all waiting inputs. Exceptions of `run` pass through; the filter must not be used after
  /// one.
  void flush() {
    std::vector<std::optional<Output>> outputs(waiting_.size());
    std::size_t next = 0;
    std::mutex emitting;
    const auto run = [&](std::span<const std::int64_t> places, const OnStep& on_step) {
      std::vector<Item> batch;
      for (const std::int64_t place : places) {
        batch.push_back(std::move(waiting_[static_cast<std::size_t>(place)]));
      }
      std::vector<Output> found = run_(batch, on_step);
      HEED_ASSERT(found.size() == places.size());
      const std::lock_guard lock(emitting);
      for (std::size_t i = 0; i < places.size(); ++i) {
        outputs[static_cast<std::size_t>(places[i])] = std::move(found[i]);
      }
      for (; next < outputs.size() && outputs[next]; ++next) {
        emit_(emitted_++, *std::move(outputs[next]));
      }
    };
    for_batches(lengths_, options_, on_step_, run);
    waiting_.clear();
    lengths_.clear();
  }

 private:
  OrderingOptions options_;
  Run run_;
  Emit emit_;
  OnStep on_step_;
  std::vector<Item> waiting_;
  std::vector<std::int64_t> lengths_;
  std::int64_t emitted_ = 0;
};

}  // namespace heed
