// Attention pooling (Lin et al. 2017, A Structured Self-attentive Sentence Embedding): represents a
// sequence of any length by R vectors, each a weighted mean of the positions with a learned query
// of its own:
//
//   A = softmax(W2 tanh(W1 H^T)),   M = A H
//
// One hop, R = 1, is pooling by a learned query (Yang et al. 2016).
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"

namespace heed {

struct PoolingConfig {
  std::int64_t embed = 64;
  std::int64_t hidden = 0;  // 0: as embed
  std::int64_t hops = 4;
  bool bias = false;  // as in Yang et al.; Lin et al. have none

  void fields(io::Fields& field);
};

/// Parameters "proj.weight" [D, E] (W1), "proj.bias" [D], "queries" [R, D] (W2).
class AttentionPooling : public AttentionLayer {
 public:
  using Config = PoolingConfig;
  explicit AttentionPooling(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// M [B, R, E]; zeros for an empty sequence. A mask gets the hop as the index of the query.
  Tensor operator()(const AttentionInput& in) const override;

  /// Both from one projection, on the tape: for training with the penalty below.
  struct Pooled {
    Tensor vectors;  ///< M [B, R, E].
    Tensor weights;  ///< A [B, R, T].
  };
  Pooled pool(const AttentionInput& in) const;

  Linear proj;
  Tensor queries;  // [R, D]

 private:
  struct Operands {
    Tensor q, k, v;  // [B, 1, R, D], [B, 1, T, D], [B, 1, T, E]
  };
  Operands project(const AttentionInput& in) const;
  Tensor vectors_of(const Operands& from, const AttentionInput& in) const;
  Tensor weights_of(const Operands& from, const AttentionInput& in) const;

  Config config_;
};

/// |A A^T - I|^2 (Frobenius) of weights [B, R, T] -> [B]: small if each hop attends to a few
/// positions and no two hops attend to the same ones.
Tensor pooling_penalty(const Tensor& weights);

inline constexpr Mechanism kPooling = mechanism<AttentionPooling>(
    "pooling",
    {.title = "Attention pooling",
     .formula = "A = softmax(W2 tanh(W1 H^T)), M = A H",
     .paper = "Lin et al. 2017, A Structured Self-attentive Sentence "
              "Embedding; one hop: Yang et al. 2016",
     .cost = "n d^2",
     .composes = "lengths, masks by hop, penalty of hops alike",
     .sample = "hidden=12 hops=3"},
    {.form = Form::pool, .cross = false, .causal = false, .growth = 1.0});

}  // namespace heed
