// Reformer (Kitaev, Kaiser and Levskaya 2020): a language model for long texts. Its layers are
// reversible, so activations take the same memory for any number of layers; attention is hashed or
// local, so time grows about linearly with the length; the feed-forward network and the loss go
// over some positions at a time.
#pragma once

#include <string>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/reformer_block.h"

namespace heed {

struct ReformerConfig {
  std::int64_t vocabulary = 0;
  /// The attention of each layer: "lsh", "local" (keys of the block) or "full" (multi-head).
  std::string layers = "local lsh local lsh local lsh";
  ReformerBlock block = {};

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes) { vocabulary = sizes.target_vocabulary; }
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return attentions_of(stack()); }
  ReversibleStackConfig stack() const;
};

/// Parameters "tokens" (embeddings), "decoder" (a reversible stack), "output.weight" [V, 2 E] and
/// "output.bias" [V].
class Reformer : public CausalModel {
 public:
  using Config = ReformerConfig;
  explicit Reformer(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// ids [B, T] -> [B, T, 2 E].
  Tensor operator()(const Tensor& ids, std::vector<LayerWeights>* weights = nullptr) const override;
  std::unique_ptr<Decoding> start(std::int64_t batch,
                                  CacheForm cache = CacheForm::f32) const override;
  std::int64_t cache_bytes(std::int64_t tokens_of_text, CacheForm cache) const override {
    return decoder.cache_bytes(tokens_of_text, 0, cache);
  }
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t max_length() const override { return tokens.max_length(); }

  const Config& config() const { return config_; }

  TextEmbedding tokens;
  ReversibleStack decoder;
  OutputLayer output;

 private:
  Config config_;
};

inline constexpr ModelKind kReformer = model_kind<Reformer>(
    "reformer", "language: a Reformer, reversible layers with hashed and local attention",
    Task::language);

}  // namespace heed
