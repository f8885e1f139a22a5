// How a query and a key make a score, as a value: stages/scores.h makes them. What can be done to
// all queries and all keys beforehand is done by ops; the rest is a scaled dot product, or
// an additive score, in the tiles.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/tensor/tensor.h"

namespace heed {

/// What the tiles work on: score = scale * q . k, or with `additive` the sum over features of
/// additive[d] tanh(q[d] + k[d]).
struct ScoreOperands {
  Tensor q;  ///< [B, H, Tq, D]
  Tensor k;  ///< [B, G, Tk, D]
  double scale = 1.0;
  Tensor additive = {};  ///< [D] or [H, D], contiguous; or undefined.
};

/// A kind of score; to be immutable, for specs share it.
class ScoreImpl {
 public:
  virtual ~ScoreImpl() = default;
  /// As in messages: the name of the function that makes it.
  virtual std::string name() const = 0;
  /// From q [B, H, Tq, D] and k [B, G, Tk, Dk] by differentiable ops; throws heed::Error if they do
  /// not fit. Packed sequences come as one, B = 1.
  virtual ScoreOperands prepare(const Tensor& q, const Tensor& k) const = 0;
};

class Score {
 public:
  explicit Score(std::shared_ptr<const ScoreImpl> impl) : impl_(std::move(impl)) {}
  std::string name() const { return impl_->name(); }
  ScoreOperands prepare(const Tensor& q, const Tensor& k) const { return impl_->prepare(q, k); }

 private:
  std::shared_ptr<const ScoreImpl> impl_;
};

}  // namespace heed
