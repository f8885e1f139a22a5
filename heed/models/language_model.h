// A language model without encoder (Radford et al. 2018): causal Transformer layers that say, at
// every position, which token comes next.
#pragma once

#include <string>
#include <vector>

#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

struct LanguageModelConfig {
  std::int64_t vocabulary = 0;
  std::int64_t embed = 384;
  std::int64_t heads = 6;
  std::int64_t hidden = 0;  // 0: four times embed
  std::int64_t layers = 6;
  FeedForwardKind activation = FeedForwardKind::gelu;
  bool norm_first = true;
  bool bias = false;
  double dropout = 0.0;
  bool tied = true;  // embeddings and output are one matrix
  std::string attention = "multi_head";
  std::string positions = "learned max_length=256";

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters "tokens" (embeddings), "decoder" (a stack) and "output.weight" [V, E]; if tied, the
/// output is another name of "tokens.tokens.weight".
class LanguageModel : public Module {
 public:
  using Config = LanguageModelConfig;
  explicit LanguageModel(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;

  /// ids [B, T] -> [B, T, E]; `weights` gets one entry a layer.
  Tensor operator()(const Tensor& ids, std::vector<LayerWeights>* weights = nullptr) const;
  /// How each token would do next: [..., E] -> [..., V], before the softmax.
  Tensor scores(const Tensor& y) const;
  /// The matrix behind scores(): [V, E].
  const Tensor& output_weight() const { return output; }

  /// What decoding has come to.
  struct Decoding {
    StackState state;
    std::int64_t next = 0;  // the position of the next token
  };
  /// Starts decoding; throws if the attention cannot go step by step.
  Decoding start(std::int64_t batch) const;
  /// The next tokens, ids [B, T] -> [B, T, E].
  Tensor step(const Tensor& ids, Decoding& decoding) const;

  const Config& config() const { return config_; }

  TextEmbedding tokens;
  EncoderStack decoder;
  Tensor output;  // [V, E]; if tied, the embeddings

 private:
  Config config_;
};

}  // namespace heed
