// Intra-attention (Cheng, Dong and Lapata 2016, Long Short-Term Memory-Networks for Machine
// Reading): an LSTM that keeps all earlier states and cells instead of the last one, and attends to
// them. At position t, over i < t:
//
//   s_i = v^T tanh(W_h h_i + W_x x_t + W_r r_{t-1}),   [r_t; m_t] = sum_i softmax(s)_i [h_i; c_i],
//   h_t, c_t = LSTM(x_t; state r_t, cell m_t)
//
// It reads from left to right, one position after another, whether `causal` is given or not.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"

namespace heed {

struct IntraConfig {
  std::int64_t embed = 64;
  std::int64_t score_hidden = 0;  // features of the score; 0: as embed

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters "input" and "state" [4 E, E] (gates i, f, g, o as in PyTorch's LSTM), "score_input"
/// (W_x), "score_read" (W_r), "score_key" (W_h), "score" (v).
class IntraAttention : public AttentionLayer {
 public:
  using Config = IntraConfig;
  explicit IntraAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// The states h_t: [B, T, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;
  std::int64_t cache_bytes(const CacheSize& size) const override;

  Linear input, state;
  Linear score_input, score_read, score_key;
  Tensor score;  // [D]

 private:
  class Tape;
  std::int64_t score_size() const {
    return config_.score_hidden > 0 ? config_.score_hidden : config_.embed;
  }
  void check(const AttentionInput& in) const;
  Tensor run(const AttentionInput& in, Tape& tape, Tensor* weights) const;

  Config config_;
};

inline constexpr Mechanism kIntra = mechanism<IntraAttention>(
    "intra",
    {.title = "Intra-attention (LSTM memory network)",
     .formula = "h_t, c_t = LSTM(x_t; sum_i a_i h_i, sum_i a_i c_i), a = softmax_i(v^T tanh(W_h "
                "h_i + W_x x_t + W_r r_t-1)) over i < t",
     .paper = "Cheng, Dong and Lapata 2016, Long Short-Term Memory-Networks for Machine Reading",
     .cost = "n^2 d + n d^2, one position after another",
     .composes = "lengths, decoding, observers; always causal"},
    {.cross = false, .mask = false, .decodes = true});

}  // namespace heed
