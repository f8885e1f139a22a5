// Pointer-generator attention with coverage (See et al. 2017, Get To The Point). A decoder state
// s_t attends to the source h; the coverage of a position, which is the sum of its earlier weights,
// enters the score:
//
//   a^t = softmax_j(v^T tanh(W_h h_j + W_s s_t + w_c c_j^t + b)),   c^t = sum_{t' < t} a^t'
//   p_gen = sigmoid(w_h^T sum_j a_j^t h_j + w_s^T s_t + w_x^T x_t + b')
//   P(w) = p_gen P_vocab(w) + (1 - p_gen) sum_{j: w_j = w} a_j^t
//
// so that words of the source can be copied even if they are not in the vocabulary. The coverage
// loss, sum_j min(a_j^t, c_j^t), penalises attending to a position twice. With coverage, steps are
// computed one after another; without it, all at once in tiles.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"

namespace heed {

struct PointerGeneratorConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0: as embed
  std::int64_t input_embed = 0;   // 0: as embed
  std::int64_t hidden = 0;        // 0: as embed
  bool coverage = true;

  void fields(io::Fields& field);
};

/// The attention of each step of a decoder.
struct Attended {
  Tensor context;   ///< [B, Tq, E']: sum_j a_j h_j.
  Tensor weights;   ///< a [B, Tq, Tk].
  Tensor coverage;  ///< c [B, Tq, Tk]: the sum of the weights of all earlier steps.
};

/// The words that a mixture is computed over.
struct CopyWords {
  Tensor logits;      ///< [B, Tq, V], over the vocabulary.
  Tensor source_ids;  ///< i64 [B, Tk]: words of the source; V and above: not in the vocabulary.
  std::int64_t extra = 0;  ///< The number of words not in the vocabulary.
};

/// Features of what a gate reads.
struct CopyGateSizes {
  std::int64_t context = 0, state = 0, input = 0;
};

/// The choice between writing and copying a word, z = w_h^T context + w_s^T state + w_x^T input +
/// b': a word of the vocabulary is written with probability p_gen = sigmoid(z). Parameters
/// "context_gate" (w_h, b'), "state_gate" (w_s), "input_gate" (w_x).
class CopyGate : public Module {
 public:
  CopyGate(const CopyGateSizes& sizes, Generator& generator);

  void visit(ParameterVisitor& visitor) override;
  /// z [B, T, 1] of contexts, decoder states and decoder inputs, [B, T, features] each.
  Tensor operator()(const Tensor& context, const Tensor& states, const Tensor& inputs) const;

  Linear context, state, input;
};

/// Parameters "memory_proj.weight" [D, E'] (W_h), "query_proj" [D, E] (W_s, b), "v" [D],
/// "coverage_weight" [D] (w_c), and those of the gate.
class PointerGenerator : public AttentionLayer {
 public:
  using Config = PointerGeneratorConfig;
  explicit PointerGenerator(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// The context [B, Tq, E'], for the next layer of a decoder; E' is the size of the memory.
  Tensor operator()(const AttentionInput& in) const override;
  /// Context, weights and coverage of a whole sequence of decoder states x, all on the tape.
  Attended attend(const AttentionInput& in) const;

  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;
  /// The same with weights and coverage.
  Attended attend_step(const Tensor& x, DecodeState& state) const;

  /// p_gen [B, Tq, 1] from contexts, decoder states [B, Tq, E] and decoder inputs [B, Tq,
  /// input_embed].
  Tensor generation_probability(const Attended& attended, const Tensor& states,
                                const Tensor& inputs) const;

  Linear memory_proj, query_proj;
  Tensor v;                // [D]
  Tensor coverage_weight;  // [D], or undefined
  CopyGate gate;

 private:
  struct Memory {
    Tensor keys, values;  // [B, Tk, D], [B, Tk, E']
  };
  class State;
  Attended walk(const Tensor& queries, const Memory& memory, const Tensor& seen,
                Tensor& coverage) const;
  Attended at_once(const Tensor& queries, const Memory& memory, const AttentionInput& in) const;
  void check(const AttentionInput& in) const;

  Config config_;
};

/// P(w) [B, Tq, V + extra], each row summing to 1 (p_gen if its source is empty).
Tensor copy_mixture(const Attended& attended, const Tensor& p_gen, const CopyWords& words);

/// sum_j min(a_j, c_j) for each step, [B, Tq].
Tensor coverage_loss(const Attended& attended);

inline constexpr Mechanism kPointerGenerator = mechanism<PointerGenerator>(
    "pointer_generator",
    {.title = "Pointer-generator attention with coverage",
     .formula =
         "a = softmax_j(v^T tanh(W_h h_j + W_s s_t + w_c c_j + b)), P = p P_vocab + (1 - p) a",
     .paper = "See et al. 2017, Get To The Point; coverage: Tu et al. 2016",
     .cost = "n^2 d, n steps one after another",
     .composes = "all masks, decoding, the mixture with a vocabulary, coverage loss",
     .sample = "hidden=12"},
    {.decodes = true, .plain_values = true, .fused = false});

}  // namespace heed
