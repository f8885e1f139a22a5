// Attention written with ops, including the n x n matrices: the fused attention must have the same
// values and gradients.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "heed/attention/attention.h"

namespace heed::test {

using Tensors = std::span<const Tensor>;

/// What a stage does to whole matrices [B, H, Tq, Tk]; each may be empty.
struct PlainStage {
  /// The scores, instead of the scaled dot product, from q and k with equally many heads.
  std::function<Tensor(const Tensor& q, const Tensor& k, Tensors parameters)> score = {};
  /// New scores from the scores, the queries times the scale, and the stage's parameters.
  std::function<Tensor(const Tensor& scores, const Tensor& q, Tensors parameters)> scores = {};
  /// Which of the masked scores remain visible, as booleans.
  std::function<Tensor(const Tensor& scores)> seen = {};
  std::function<Tensor(const Tensor& weights, Tensors parameters)> weights = {};
  /// A term that is added to the output.
  std::function<Tensor(const Tensor& weights, Tensors parameters)> output = {};
};

/// A stage and its plain equivalent, with parameters of the given shapes.
struct StageCase {
  std::string name;
  std::vector<Shape> parameters;
  std::function<void(AttentionSpec& spec, Tensors parameters)> use;
  PlainStage plain;
};

/// The sizes that the cases below are made for.
struct CaseSizes {
  std::int64_t B = 1, H = 2, G = 1, Tq = 5, Tk = 7, D = 3, Dv = 4;
};

/// Every stage that changes scores or weights, and a score, a normaliser and observers.
std::vector<StageCase> stage_cases(const CaseSizes& sizes);

/// In the order given: scores * scale, modifiers, mask (undefined or boolean, true where visible),
/// softmax over visible keys or another normaliser, reweights, output.
struct PlainCall {
  struct Stage {
    PlainStage plain;
    std::vector<Tensor> parameters;
  };
  std::vector<Stage> stages = {};
  Tensor seen = {};
  double scale = 1.0;
  /// Weights from masked scores; empty: softmax.
  std::function<Tensor(const Tensor& scores)> normalise = {};
};
Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const PlainCall& call);

/// The shapes of q, k, v.
inline std::vector<Shape> operand_shapes(const CaseSizes& s) {
  return {{s.B, s.H, s.Tq, s.D}, {s.B, s.G, s.Tk, s.D}, {s.B, s.G, s.Tk, s.Dv}};
}

/// A constant [Tq, Tk] whose elements are f(i, j).
Tensor by_pairs(const CaseSizes& sizes, DType dtype,
                const std::function<double(std::int64_t i, std::int64_t j)>& f);

}  // namespace heed::test
