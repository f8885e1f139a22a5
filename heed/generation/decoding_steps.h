// A model that decodes token by token, as searches drive it, with the attention weights of its
// steps if they are wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/step_model.h"
#include "heed/models/model.h"

namespace heed {

/// Sequences of equal length, one after another, as [rows, T].
Tensor ids_of(std::span<const std::int32_t> tokens, std::int64_t rows);

class DecodingSteps : public StepModel {
 public:
  /// Continues `rows` sequences. The output layer must outlive it. Weights for
  /// ObservedWeights::cross are the mean over heads.
  DecodingSteps(const OutputLayer& output, std::int64_t rows, std::unique_ptr<Decoding> decoding,
                ObservedWeights observed = ObservedWeights::none);

  DecodingSteps(const DecodingSteps&) = delete;  // the decoding writes to a member
  DecodingSteps& operator=(const DecodingSteps&) = delete;

  std::int64_t rows() const override { return rows_; }
  std::int64_t vocabulary() const override { return output_.weight.out(); }
  TokenScores step(std::span<const std::int32_t> last) override;
  void reorder(std::span<const std::int64_t> from) override;

  /// The decoder's weights of a finished hypothesis: self [1, H, T, T], cross [1, H, T, S] of a
  /// source of S positions, one row for each token and the end. Tensors that were not observed, or
  /// that a layer does not give, are undefined.
  std::vector<LayerWeights> weights_of(const Hypothesis& hypothesis, std::int64_t source) const;

 private:
  struct Step {
    std::vector<std::int64_t> parents;  // row i continues row parents[i] of the step before
    std::vector<LayerWeights> layers;   // [rows, H, 1, Tk]
  };
  std::vector<std::int64_t> rows_of(const Hypothesis& hypothesis) const;

  const OutputLayer& output_;
  std::int64_t rows_;
  std::unique_ptr<Decoding> decoding_;
  ObservedWeights observed_;
  std::vector<LayerWeights> now_;      // of the last step
  std::vector<std::int64_t> parents_;  // of the next step
  std::vector<Step> steps_;
};

}  // namespace heed
