// Soft, or global, attention over the states of a memory (Bahdanau et al. 2015; Luong et al. 2015).
// It has one head and does not project the values:
//   context[i] = sum_j softmax_j(score(x[i], memory[j])) memory[j].
// Local, hard and Gumbel attention derive from it. bahdanau.h and luong_global.h are its classic
// forms. multi_head.h has heads and projected values.
#pragma once

#include <array>
#include <optional>

#include "heed/attention/mechanism.h"
#include "heed/attention/spec.h"
#include "heed/nn/linear.h"

namespace heed {

/// How the score of a query x and a state h is computed.
enum class AlignScore : std::uint8_t {
  dot,         ///< x . h
  scaled_dot,  ///< x . h / sqrt(E)
  general,     ///< x^T W h
  additive,    ///< v^T tanh(W x + U h), as Bahdanau's; Luong calls it concat
  location,    ///< (W x)[j], independent of the state at position j
};

/// The names that configs use.
constexpr std::array<io::EnumName<AlignScore>, 5> enum_names(AlignScore) {
  return {{{AlignScore::dot, "dot"},
           {AlignScore::scaled_dot, "scaled_dot"},
           {AlignScore::general, "general"},
           {AlignScore::additive, "additive"},
           {AlignScore::location, "location"}}};
}

struct GlobalConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0: as embed
  AlignScore score = AlignScore::general;
  std::int64_t hidden = 0;         // additive: features of W x and U h; 0: as embed
  std::int64_t max_length = 1024;  // location: the maximum number of positions
  bool combine = false;            // Luong's attentional vector instead of the context
  Activation output_activation = Activation::tanh;  // f of that vector, f(W_c [context; x])

  void fields(io::Fields& field);
  void validate() const;
};

/// The result is the context [B, Tq, memory_embed] or, if `combine` is set, tanh(W_c [context; x])
/// [B, Tq, E]. Parameters "weight" (general and location), "query", "key" and "v" (additive),
/// "combine".
class GlobalAttention : public AttentionLayer {
 public:
  using Config = GlobalConfig;
  explicit GlobalAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  /// Differentiable if decoding attends to a memory.
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Tensor weight;                     // general: [E, memory_embed]; location: [max_length, E]
  std::optional<Linear> query, key;  // additive: W and U
  Tensor v;                          // additive: [hidden]
  std::optional<Linear> combine;     // W_c

 protected:
  /// The number of keys of a call, and the positions of its queries among them.
  struct Place {
    std::int64_t keys = 0;
    Corner corner = Corner::top_left;
  };
  /// The arguments of a call of attention: one head of queries, keys and values, and the stages.
  struct Call {
    Tensor q, k, v;  // [B, 1, Tq, D], [B, 1, Tk, D], [B, 1, Tk, memory_embed]
    AttentionSpec spec;
  };

  /// Adds the stages of a variant to a call for in.x; in a decoding step, in.memory is undefined.
  virtual void specialise(AttentionSpec&, const AttentionInput& in, const Place&) const {
    static_cast<void>(in);
  }
  /// The contexts [B, 1, Tq, memory_embed].
  virtual Tensor attend(const Call& call) const;
  /// The layer's name in messages.
  virtual std::string_view name() const { return "global"; }

  /// What is compared: queries [B, 1, Tq, D] of x, and keys [B, 1, Tk, D] of the memory's positions
  /// from `first` on.
  virtual Tensor queries(const Tensor& x) const;
  virtual Tensor keys(const Tensor& memory, std::int64_t first = 0) const;
  /// D.
  virtual std::int64_t key_size() const { return key ? config_.hidden : config_.embed; }
  /// The layer's result from the contexts.
  virtual Tensor result(const Tensor& contexts, const Tensor& x) const;
  Call call_of(const AttentionInput& in) const;

 private:
  class State;

  AttentionSpec spec_of(const AttentionInput& in, const Place& place) const;

  Config config_;
};

inline constexpr std::string_view kWithMasks = "all masks, decoding, observers";

inline constexpr Mechanism kGlobal = mechanism<GlobalAttention>(
    "global",
    {.title = "Global (soft) attention",
     .formula = "sum_j softmax_j(score(x_i, h_j)) h_j",
     .paper = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine "
              "Translation",
     .cost = "n^2 d",
     .composes = kWithMasks},
    {.decodes = true, .plain_values = true});

}  // namespace heed
