// A model that goes step by step, as searches drive it; the model has step(ids, decoding),
// scores(y) and the matrix behind them, `output` [V, E].
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/step_model.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

/// Sequences of equal length, one behind the other, as [rows, T].
inline Tensor ids_of(std::span<const std::int32_t> tokens, std::int64_t rows) {
  const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
  const std::int64_t length = rows > 0 ? std::ssize(wide) / rows : 1;
  return from_values(std::span<const std::int64_t>(wide), {rows, length});  // [rows, T]
}

template <typename Model>
class CachedSteps : public StepModel {
 public:
  /// Goes on with `rows` sequences that have come to `decoding`. The model must outlive it.
  CachedSteps(const Model& model, std::int64_t rows, typename Model::Decoding decoding)
      : model_(model), rows_(rows), decoding_(std::move(decoding)) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t vocabulary() const override { return model_.output.size(0); }

  Tensor step(std::span<const std::int32_t> last) override {
    const NoGrad no_grad;
    HEED_ASSERT(std::ssize(last) == rows_);
    const Tensor y = model_.step(ids_of(last, rows_), decoding_);  // [rows, 1, E]
    return model_.scores(squeeze(y, 1));                           // [rows, V]
  }

  void reorder(std::span<const std::int64_t> from) override {
    rows_ = std::ssize(from);
    decoding_.state.reorder(from);
  }

 private:
  const Model& model_;
  std::int64_t rows_;
  typename Model::Decoding decoding_;
};

}  // namespace heed
