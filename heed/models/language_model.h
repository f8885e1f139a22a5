// A language model without encoder (Radford et al. 2018): causal Transformer layers that predict,
// at every position, the next token.
#pragma once

#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

struct LanguageModelConfig {
  std::int64_t vocabulary = 0;
  std::int64_t layers = 6;
  BlockConfig block = default_block();
  bool tied = true;                // embeddings and output share one matrix
  bool scaled_embeddings = false;  // multiplied by the square root of embed
  double output_soft_cap = 0.0;    // c: scores are c tanh(score / c); 0: as they are
  std::int64_t context = 0;        // maximum number of tokens of a text; 0: any the positions allow

  /// A small GPT: pre-norm, GELU, no biases, no dropout, 256 learned positions.
  static BlockConfig default_block();

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return block.self_attentions(); }
};

/// Parameters "tokens" (embeddings), "decoder" (a stack) and "output.weight" [V, E]; if tied, the
/// output is another name of "tokens.tokens.weight".
class LanguageModel : public CausalModel {
 public:
  using Config = LanguageModelConfig;
  explicit LanguageModel(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Tensor& ids, std::vector<LayerWeights>* weights = nullptr) const override;
  /// Throws if the attention cannot go step by step.
  std::unique_ptr<Decoding> start(std::int64_t batch,
                                  CacheForm cache = CacheForm::f32) const override;
  std::int64_t cache_bytes(std::int64_t tokens_of_text, CacheForm cache) const override {
    return decoder.cache_bytes(tokens_of_text, 0, cache);
  }
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t max_length() const override;

  const Config& config() const { return config_; }

  TextEmbedding tokens;
  Stack decoder;
  OutputLayer output;  // tied to the embeddings, or its own

 private:
  Config config_;
};

inline constexpr ModelKind kLanguageModel = model_kind<LanguageModel>(
    "language_model", "language: a decoder-only Transformer", Task::language);

}  // namespace heed
