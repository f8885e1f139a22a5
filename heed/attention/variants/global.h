// Soft, or global, attention over a memory's states themselves (Bahdanau et al. 2015; Luong et al.
// 2015): one head, no map of the values,
//   context[i] = sum_j softmax_j(score(x[i], memory[j])) memory[j].
// Local, hard and Gumbel attention derive from it; bahdanau.h and luong_global.h are its classic
// forms; heads and value maps are multi_head.h's.
#pragma once

#include <array>
#include <optional>

#include "heed/attention/mechanism.h"
#include "heed/attention/spec.h"
#include "heed/nn/linear.h"

namespace heed {

/// How a query x and a state h make a score.
enum class AlignScore : std::uint8_t {
  dot,         ///< x . h
  scaled_dot,  ///< x . h / sqrt(E)
  general,     ///< x^T W h
  additive,    ///< v^T tanh(W x + U h), Bahdanau's; what Luong calls concat
  location,    ///< (W x)[j], whatever stands at position j
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
  std::int64_t max_length = 1024;  // location: positions there are
  bool combine = false;            // Luong's attentional vector instead of the context

  void fields(io::Fields& field);
  void validate() const;
};

/// The result is the context [B, Tq, memory_embed] or, if it is combined with what asks,
/// tanh(W_c [context; x]) [B, Tq, E]. Parameters "weight" (general and location), "query", "key"
/// and "v" (additive), "combine".
class GlobalAttention : public AttentionLayer {
 public:
  using Config = GlobalConfig;
  explicit GlobalAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  /// Differentiable if a memory is asked.
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Tensor weight;                     // general: [E, memory_embed]; location: [max_length, E]
  std::optional<Linear> query, key;  // additive: W and U
  Tensor v;                          // additive: [hidden]
  std::optional<Linear> combine;     // W_c

 protected:
  /// Where the queries of a call stand among how many keys.
  struct Place {
    std::int64_t keys = 0;
    Corner corner = Corner::top_left;
  };
  /// What attention is called with: one head of queries, keys and values, and the stages.
  struct Call {
    Tensor q, k, v;  // [B, 1, Tq, D], [B, 1, Tk, D], [B, 1, Tk, memory_embed]
    AttentionSpec spec;
  };

  /// Adds what is the variant's own to a call of in.x; a step has no in.memory.
  virtual void specialise(AttentionSpec&, const AttentionInput& in, const Place&) const {
    static_cast<void>(in);
  }
  /// The contexts [B, 1, Tq, memory_embed].
  virtual Tensor attend(const Call& call) const;
  /// How the layer is called in messages.
  virtual std::string_view name() const { return "global"; }

  Call call_of(const AttentionInput& in) const;
  /// The layer's result from the contexts.
  Tensor result(const Tensor& contexts, const Tensor& x) const;

 private:
  class State;

  Tensor queries(const Tensor& x) const;
  Tensor keys(const Tensor& memory, std::int64_t first = 0) const;
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
    {.decodes = true});

}  // namespace heed
