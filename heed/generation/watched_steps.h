// A model that calls a function before each of its steps, to report the chosen tokens or to stop a
// search by throwing.
#pragma once

#include <functional>
#include <utility>

#include "heed/generation/step_model.h"

namespace heed {

class WatchedSteps : public StepModel {
 public:
  /// Called with the last token of each row, before the step that appends it.
  using Before = std::function<void(std::span<const std::int32_t> last)>;

  /// The model must outlive it.
  WatchedSteps(StepModel& steps, Before before) : steps_(steps), before_(std::move(before)) {}

  std::int64_t rows() const override { return steps_.rows(); }
  std::int64_t vocabulary() const override { return steps_.vocabulary(); }
  TokenScores step(std::span<const std::int32_t> last) override {
    before_(last);
    return steps_.step(last);
  }
  void reorder(std::span<const std::int64_t> from) override { steps_.reorder(from); }
  std::shared_ptr<const Candidates> candidates(std::vector<std::int32_t> tokens) const override {
    return steps_.candidates(std::move(tokens));
  }
  std::shared_ptr<const StepTrace> trace(std::int64_t row) const override {
    return steps_.trace(row);
  }

 private:
  StepModel& steps_;
  Before before_;
};

}  // namespace heed
