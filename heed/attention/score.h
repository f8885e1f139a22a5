// How a query and a key make a score, as a value: the functions of stages.h make scores. Ops
// transform all queries and all keys first; the tiles then compute a scaled dot product or an
// additive score.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/tensor/tensor.h"

namespace heed {

/// The operands of the tiles: score = scale * q . k, or with `additive` the sum over features of
/// additive[d] tanh(q[d] + k[d]).
struct ScoreOperands {
  Tensor q;  ///< [B, H, Tq, D]
  Tensor k;  ///< [B, G, Tk, D]
  double scale = 1.0;
  Tensor additive = {};  ///< [D] or [H, D], contiguous; or undefined.
  bool bf16 = false;     ///< Queries, keys and values are bf16 numbers.
};

/// The implementation of a score; it must be immutable because specs share it.
class ScoreImpl {
 public:
  virtual ~ScoreImpl() = default;
  /// The name of the function that makes it, for messages.
  virtual std::string name() const = 0;
  /// Computes the operands from q [B, H, Tq, D] and k [B, G, Tk, Dk] by differentiable ops; throws
  /// heed::Error if they do not fit. Packed sequences are given as one sequence, B = 1.
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
