// Models that copy words of their source into a translation (See et al. 2017), and their decoding:
// the interface besides TranslationModel and Decoding.
#pragma once

#include "heed/models/model.h"

namespace heed {

/// What steps compute besides their states: P(w) = g P_vocabulary(w) + (1 - g) sum of the weights
/// of the source positions with word w.
struct CopySteps {
  Tensor gate;           ///< z [B, T]: g is sigmoid(z).
  Tensor weights;        ///< [B, T, S]: attention to the source.
  Tensor coverage = {};  ///< [B, T, S]: the sum of the weights of all earlier steps.
};

class CopyingModel {
 public:
  virtual ~CopyingModel() = default;
  /// Whether its config says that it copies. The output layer scores the vocabulary only.
  virtual bool copies() const = 0;
  /// TranslationModel::decode() of a model that copies, with all of `copied` on the tape.
  virtual Tensor decode_copying(const Tensor& target, const Memory& memory,
                                CopySteps& copied) const = 0;
  /// The weight of sum_j min(weight_j, coverage_j) of each step in the loss.
  virtual double coverage_weight() const = 0;
};

/// The model if it copies, else null.
inline const CopyingModel* copying_of(const TranslationModel& model) {
  const auto* const copying = dynamic_cast<const CopyingModel*>(&model);
  return copying != nullptr && copying->copies() ? copying : nullptr;
}

class CopyingDecoding {
 public:
  virtual ~CopyingDecoding() = default;
  /// What the last step copies, without coverage; null: the model copies nothing.
  virtual const CopySteps* copied() const = 0;
};

/// What the last step of a decoding copies, else null.
inline const CopySteps* copied_by(const Decoding& decoding) {
  const auto* const copying = dynamic_cast<const CopyingDecoding*>(&decoding);
  return copying != nullptr ? copying->copied() : nullptr;
}

}  // namespace heed
