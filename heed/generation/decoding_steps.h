// A model that decodes token by token, as searches drive it, with the attention weights of its
// steps if they are wanted. Sequences may join others that are being decoded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/step_model.h"
#include "heed/generation/step_trace.h"
#include "heed/models/model.h"

namespace heed {

/// Sequences of equal length, one after another, as [rows, T].
Tensor ids_of(std::span<const std::int32_t> tokens, std::int64_t rows);

/// Tokens that stand for words of the source become unknown ones, with the words beside.
void name_copied(const CopiedWords& copied, Hypothesis& hypothesis);

class DecodingSteps : public StepModel {
 public:
  /// Without sequences. The output layer must outlive it. Weights for ObservedWeights::cross are
  /// the mean over heads.
  explicit DecodingSteps(const OutputLayer& output,
                         ObservedWeights observed = ObservedWeights::none);
  /// Continues `rows` sequences.
  DecodingSteps(const OutputLayer& output, std::int64_t rows, std::unique_ptr<Decoding> decoding,
                ObservedWeights observed = ObservedWeights::none);

  DecodingSteps(const DecodingSteps&) = delete;  // the decoding writes to a member
  DecodingSteps& operator=(const DecodingSteps&) = delete;

  /// Whether sequences may join: there are none, or the model can decode different lengths.
  bool can_join() const { return rows_ == 0 || decoding_->can_join(); }
  /// The words of the sources of some sequences, for models that copy.
  using Sources = std::vector<std::shared_ptr<const CopiedWords>>;
  /// Adds the `rows` sequences of a decoding of the same model; if it copies, with their words.
  void join(std::unique_ptr<Decoding> decoding, std::int64_t rows, const Sources& sources = {});
  /// Drops all sequences and their memory.
  void clear();

  std::int64_t rows() const override { return rows_; }
  std::int64_t vocabulary() const override { return output_.weight.out(); }
  TokenScores step(std::span<const std::int32_t> last) override;
  void reorder(std::span<const std::int64_t> from) override;
  std::shared_ptr<const Candidates> candidates(std::vector<std::int32_t> tokens) const override;
  std::shared_ptr<const StepTrace> trace(std::int64_t row) const override;

 private:
  bool is_observed() const { return observed_ != ObservedWeights::none; }
  void observe_step();

  const OutputLayer& output_;
  ObservedWeights observed_;
  std::int64_t rows_ = 0;
  std::unique_ptr<Decoding> decoding_;                    // null if there are no rows
  std::vector<LayerWeights> now_;                         // of the last step
  std::vector<std::shared_ptr<const StepTrace>> traces_;  // of each row, if observed
  Sources sources_;                                       // of each row; null: nothing is copied
};

}  // namespace heed
