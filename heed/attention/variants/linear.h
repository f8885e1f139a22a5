// Linear attention (Katharopoulos et al. 2020): scores are products of features, phi(q) . phi(k)
// with phi = elu + 1, so keys and values are summed once for all queries:
//   S = sum_j phi(k_j) v_j^T,  z = sum_j phi(k_j),  out_i = S^T phi(q_i) / (z . phi(q_i))
// If causal, the sums run up to i: positions attend within chunks by tiles, and S and z are carried
// from chunk to chunk, so n d^2 / chunk numbers are stored instead of n d^2. Decoding keeps only S
// and z.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"

namespace heed {

struct LinearAttentionConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t memory_embed = 0;  // 0: as embed
  bool bias = true;
  Activation output_activation = Activation::none;  // f of the output layer, f(W h + b)
  std::int64_t chunk =
      64;  // if causal: positions of a chunk, within which scores are computed for pairs

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters "q_proj", "k_proj", "v_proj" and "out_proj".
class LinearAttention : public AttentionLayer {
 public:
  using Config = LinearAttentionConfig;
  explicit LinearAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, Tq, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Linear q_proj, k_proj, v_proj, out_proj;

 private:
  class State;
  /// Features of the keys, and values with a 1 appended, whose weighted sum is the divisor. Both
  /// are 0 at hidden positions.
  struct KeysAndValues {
    Tensor k, v;  // [B, H, Tk, D], [B, H, Tk, D + 1]
  };

  std::int64_t head_size() const { return config_.embed / config_.heads; }
  void check(const AttentionInput& in) const;
  Tensor query_features(const Tensor& x) const;
  KeysAndValues keys_and_values(const Tensor& memory, const Tensor& lengths) const;
  Tensor attend_causal(const Tensor& q, const KeysAndValues& kv, const Tensor& sums) const;
  Tensor project(const Tensor& read) const;

  Config config_;
};

inline constexpr Mechanism kLinear = mechanism<LinearAttention>(
    "linear",
    {.title = "Linear attention",
     .formula = "phi(Q) (phi(K)^T V) / (phi(Q) sum_j phi(k_j)), phi = elu + 1",
     .paper = "Katharopoulos et al. 2020, Transformers are RNNs: Fast Autoregressive Transformers "
              "with Linear Attention",
     .cost = "n d^2 / heads",
     .composes = "lengths, causal, memory, decoding in constant time and memory",
     .sample = "chunk=4"},
    {.mask = false, .decodes = true, .fused = false, .growth = 1.0});

}  // namespace heed
