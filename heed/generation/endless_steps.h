// Steps of a language model over any length. A model with a limited number of positions (learned
// ones, say) reads the last half of its context again whenever the context is full: tokens then
// depend on at least half a context.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/generation/step_model.h"
#include "heed/models/model.h"

namespace heed {

class EndlessSteps : public StepModel {
 public:
  /// One sequence in each of `rows`, all of which begin with a prompt. Its last token is not read:
  /// it is for the first step. At most `context` tokens are read at once. The model must outlive
  /// it.
  EndlessSteps(const CausalModel& model, std::int64_t rows, std::span<const std::int32_t> prompt,
               std::int64_t context, CacheForm cache = CacheForm::f32);

  /// Reads the rest of a prompt that begins with all that was read, except its last token. False,
  /// and nothing is read, if it begins otherwise, or if there are several rows or too many tokens.
  bool continue_to(std::span<const std::int32_t> prompt);

  CacheForm cache() const { return cache_; }
  std::int64_t rows() const override { return std::ssize(read_); }
  std::int64_t vocabulary() const override { return steps_->vocabulary(); }
  TokenScores step(std::span<const std::int32_t> last) override;
  void reorder(std::span<const std::int64_t> from) override;

 private:
  void begin();

  const CausalModel& model_;
  std::int64_t context_;
  CacheForm cache_;
  std::vector<std::vector<std::int32_t>> read_;  // since the context began, of each row
  std::int64_t filled_ = 0;                      // how many that is
  bool is_whole_ = true;                         // whether the context begins where the text does
  Decoding* decoding_ = nullptr;                 // of steps_
  std::unique_ptr<StepModel> steps_;
};

}  // namespace heed
