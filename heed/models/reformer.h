// Reformer (Kitaev, Kaiser and Levskaya 2020): a language model for long texts. Its layers are
// reversible, so activations take the same memory for any number of layers; attention is hashed or
// local, so time grows about linearly with the length; the feed-forward network and the loss go
// over some positions at a time.
#pragma once

#include <string>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/reversible_stack.h"
#include "heed/models/text_embedding.h"

namespace heed {

struct ReformerConfig {
  std::int64_t vocabulary = 0;
  /// The attention of each layer: "lsh", "local" (the keys below) or "full" (multi-head).
  std::string layers = "local lsh local lsh local lsh";
  std::int64_t embed = 256;
  std::int64_t heads = 4;
  std::int64_t head_size = 0;  // 0: embed / heads
  std::int64_t hidden = 0;     // of the feed-forward network; 0: four times embed
  FeedForwardKind activation = FeedForwardKind::gelu;
  bool bias = true;  // of linear layers and norms; the attentions may set another
  double norm_eps = 1e-5;
  double dropout = 0.0;  // of residual branches, embeddings and the feed-forward network
  double attention_dropout = 0.0;
  AttentionChoice lsh = "lsh buckets=32 chunk=64 rounds=4 redraw=true unique=true";
  AttentionChoice local = "block_sparse block=64 local=1 every=0";
  PositionChoice positions = "axial max_length=4096";
  std::int64_t feed_forward_rows = 1024;  // positions in the feed-forward network at a time
  Activations activations = Activations::reversible;

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes) { vocabulary = sizes.target_vocabulary; }
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const;
  /// The layers, as blocks of a stack.
  std::vector<BlockConfig> blocks() const;
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
    return decoder.cache_bytes(tokens_of_text, cache);
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
