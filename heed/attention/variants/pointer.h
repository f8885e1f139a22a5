// Pointer attention (Vinyals et al. 2015, Pointer Networks): the attention weights are the result.
// A decoder state d_i points at one of the input's positions e_j:
//
//   u_ij = v^T tanh(W1 e_j + W2 d_i),   p(j | i) = softmax_j(u_ij)
//
// No context is computed; pointer_generator.h has a pointer that also generates words.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"

namespace heed {

struct PointerConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0: as embed
  std::int64_t hidden = 0;        // 0: as embed

  void fields(io::Fields& field);
};

/// Parameters "memory_proj.weight" [D, E'] (W1), "query_proj.weight" [D, E] (W2) and "v" [D].
class Pointer : public AttentionLayer {
 public:
  using Config = PointerConfig;
  explicit Pointer(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// Probabilities [B, Tq, Tk]; a row without visible keys is 0.
  Tensor operator()(const AttentionInput& in) const override;
  /// Their logarithms, for the loss, computed from the scores: -inf for hidden keys.
  Tensor log_probs(const AttentionInput& in) const;

  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  /// x [B, T, E] -> [B, T, Tk], where Tk is the number of positions so far.
  Tensor step(const Tensor& x, DecodeState& state) const override;
  /// Hides these positions, i64 [B], one for each sequence, from all later steps.
  void take(const Tensor& positions, DecodeState& state) const;

  Linear memory_proj, query_proj;
  Tensor v;  // [D]

 private:
  class State;
  Tensor scores(const AttentionInput& in) const;
  Tensor project(const Linear& by, const Tensor& x) const;

  Config config_;
};

/// A mask that lets each position be pointed at once: `pointed`[b, 0 … i - 1] (i64 [B, Tq], the
/// targets) of Tk positions are hidden from query i.
Mask each_once(const Tensor& pointed, std::int64_t Tk);

inline constexpr Mechanism kPointer =
    mechanism<Pointer>("pointer",
                       {.title = "Pointer attention",
                        .formula = "p_ij = softmax_j(v^T tanh(W1 e_j + W2 d_i))",
                        .paper = "Vinyals et al. 2015, Pointer Networks",
                        .cost = "n^2 d",
                        .composes = "all masks, decoding, positions taken once",
                        .sample = "hidden=12"},
                       {.form = Form::pointer, .decodes = true});

}  // namespace heed
