// The options of multi-head attention, which all of its variants share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "heed/attention/normaliser.h"
#include "heed/attention/position.h"
#include "heed/io/config.h"
#include "heed/nn/activation.h"

namespace heed {

/// How the scores of a head become weights (normaliser.h).
enum class HeadWeights : std::uint8_t { softmax, sparsemax, entmax15 };

/// The names that configs use.
constexpr std::array<io::EnumName<HeadWeights>, 3> enum_names(HeadWeights) {
  return {{{HeadWeights::softmax, "softmax"},
           {HeadWeights::sparsemax, "sparsemax"},
           {HeadWeights::entmax15, "entmax15"}}};
}

Normaliser normaliser_of(HeadWeights weights);

struct MultiHeadConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 0;      // 0: as many as heads
  std::int64_t head_size = 0;     // 0: embed / heads
  std::int64_t memory_embed = 0;  // 0: as embed
  bool joint = true;              // queries, keys and values from one matrix; false: from three
  bool bias = true;
  std::optional<bool> qkv_bias = {};             // bias of queries, keys and values; none: as bias
  Activation qkv_activation = Activation::none;  // of queries, keys and values
  Activation output_activation = Activation::none;  // f of the output layer, f(W h + b)
  bool qk_norm = false;                             // RMS norm of each head of queries and keys
  double qk_norm_eps = 1e-6;
  double scale = 0.0;     // factor of the scores; 0: 1 / sqrt(head_size)
  double soft_cap = 0.0;  // scores are at most this, by tanh; 0: no limit
  HeadWeights normaliser = HeadWeights::softmax;
  bool bias_kv = false;    // one more learned key and value, visible to every query
  bool zero_attn = false;  // one more key and value of zeros
  double dropout = 0.0;    // of attention weights
  PositionConfig position = {};

  void fields(io::Fields& field);
  void validate() const;
  /// For variants with a normaliser of their own: throws if the config names one.
  void check_no_normaliser(std::string_view variant) const;
};

/// Returns the config after validate(), for members that a constructor makes from it.
template <typename Config>
const Config& valid(const Config& config) {
  config.validate();
  return config;
}

}  // namespace heed
