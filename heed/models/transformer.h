// The Transformer (Vaswani et al. 2017): an encoder reads the source, a decoder writes the target a
// token at a time. Any attention and any position code of the registry, on either side. What it is
// not: a loss or a search; ops/linear_cross_entropy.h and generation/ are.
//
//   Transformer model({.source_vocabulary = 8000, .target_vocabulary = 8000});
//   const Memory memory = model.encode(source, lengths);
//   const Tensor y = model.decode(target, memory);  // [B, T, E]
//   model.scores(y);                                // [B, T, V]
#pragma once

#include <string>
#include <vector>

#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

/// Which of the three matrices over a vocabulary are one.
enum class Tied : std::uint8_t {
  none,
  two,   ///< The target's embeddings and the output (Press and Wolf 2017).
  three  ///< The source's embeddings too: the vocabulary must be shared.
};

/// The names that configs use.
constexpr std::array<io::EnumName<Tied>, 3> enum_names(Tied) {
  return {{{Tied::none, "none"}, {Tied::two, "two"}, {Tied::three, "three"}}};
}

struct TransformerConfig {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t embed = 512;
  std::int64_t heads = 8;
  std::int64_t hidden = 2048;
  std::int64_t encoder_layers = 6;
  std::int64_t decoder_layers = 6;
  FeedForwardKind activation = FeedForwardKind::relu;
  bool norm_first = false;
  std::optional<bool> final_norm = {};  // behind each stack; none: if norm_first
  double dropout = 0.1;
  std::optional<double> attention_dropout = {};
  std::optional<double> activation_dropout = {};
  Tied tied = Tied::three;
  std::string encoder_attention = "multi_head";
  std::string decoder_attention = "multi_head";
  std::string cross_attention = "multi_head";
  std::string positions = "sinusoidal";

  void fields(io::Fields& field);
  void validate() const;
};

/// What the encoder made of the source.
struct Memory {
  Tensor states;   ///< [B, S, E].
  Tensor lengths;  ///< i64 [B], or undefined: all of them.
};

/// What positions attended to, one entry a layer.
struct TransformerWeights {
  std::vector<LayerWeights> encoder, decoder;
};

/// Parameters "source", "target" (embeddings), "encoder", "decoder" (stacks, named as in
/// torch.nn.Transformer) and "output.weight" [V, E]; tied ones are one tensor under several names.
class Transformer : public Module {
 public:
  using Config = TransformerConfig;
  explicit Transformer(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;

  /// ids [B, S], lengths i64 [B].
  Memory encode(const Tensor& source, const Tensor& lengths = {},
                std::vector<LayerWeights>* weights = nullptr) const;
  /// The target so far, ids [B, T] -> [B, T, E].
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const;
  /// How each token would do next: [..., E] -> [..., V], before the softmax.
  Tensor scores(const Tensor& y) const;
  /// The matrix behind scores(): [V, E].
  const Tensor& output_weight() const { return output; }

  /// What decoding has come to.
  struct Decoding {
    StackState state;
    std::int64_t next = 0;  // the position of the next token
  };
  /// Starts decoding; throws if one of the attentions cannot go step by step.
  Decoding start(const Memory& memory) const;
  /// The next tokens, ids [B, T] -> [B, T, E].
  Tensor step(const Tensor& ids, Decoding& decoding) const;
  /// Whether start() works: every attention of the decoder decodes.
  bool can_step() const;

  /// What positions attend to when `target` is written for `source`.
  TransformerWeights weights(const Tensor& source, const Tensor& lengths,
                             const Tensor& target) const;

  const Config& config() const { return config_; }

  TextEmbedding source, target;
  EncoderStack encoder;
  DecoderStack decoder;
  Tensor output;  // [V, E]; if tied, the target's embeddings

 private:
  Config config_;
};

}  // namespace heed
