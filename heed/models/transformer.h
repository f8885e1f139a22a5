// The Transformer (Vaswani et al. 2017): an encoder reads the source, a decoder writes the target a
// token at a time. Any attention and any position code of the registry, on either side. The loss is
// in ops/linear_cross_entropy.h, searches are in generation/.
//
//   Transformer model({.source_vocabulary = 8000, .target_vocabulary = 8000});
//   const Memory memory = model.encode(source, lengths);
//   const Tensor y = model.decode(target, memory);  // [B, T, E]
//   model.output(y);                                // [B, T, V]
#pragma once

#include <optional>
#include <vector>

#include "heed/attention/variants/pointer_generator.h"
#include "heed/models/copying.h"
#include "heed/models/model_kind.h"
#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"
#include "heed/models/tied.h"

namespace heed {

struct TransformerConfig {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t encoder_layers = 6;
  std::int64_t decoder_layers = 6;
  BlockConfig block = {.hidden = 2048};
  std::optional<std::int64_t> decoder_heads = {};         // none: the block's
  std::optional<std::int64_t> decoder_hidden = {};        // none: the block's
  std::optional<AttentionChoice> encoder_attention = {};  // none: the block's
  std::optional<AttentionChoice> decoder_attention = {};  // none: the block's
  std::optional<PositionChoice> decoder_positions = {};   // none: the block's
  Tied tied = Tied::three;
  bool scaled_embeddings = true;  // multiplied by the square root of embed
  bool embedding_norm = false;    // a norm of embeddings with their positions
  bool output_bias = false;
  bool copy = false;                           // whether words of the source are copied
  std::optional<std::int64_t> copy_head = {};  // whose weights copy, from 1; none: the mean of all
  double coverage = 0.0;                       // weight of the coverage loss

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);

  /// The block of the encoder's and of the decoder's layers.
  BlockConfig encoder_block() const;
  BlockConfig decoder_block() const;
  /// Throws unless the keys of copying fit together.
  void check_copying() const;
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const;
};

/// Parameters "source", "target" (embeddings), "encoder", "decoder" (stacks, named as in
/// torch.nn.Transformer), "output.weight" [V, E] and "output.bias"; tied ones are one tensor under
/// several names. A model that copies has "copy_gate".
class Transformer : public TranslationModel, public CopyingModel {
 public:
  using Config = TransformerConfig;
  explicit Transformer(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Memory encode(const Tensor& source, const Tensor& lengths = {},
                std::vector<LayerWeights>* weights = nullptr) const override;
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const override;
  bool copies() const override { return copy_gate.has_value(); }
  /// Copies by the weights of the last decoder layer's attention to the source: those of one head,
  /// or the mean of all.
  Tensor decode_copying(const Tensor& target, const Memory& memory,
                        CopySteps& copied) const override;
  double coverage_weight() const override { return config_.coverage; }
  /// Stepping::cached throws if an attention of the decoder cannot go step by step.
  std::unique_ptr<Decoding> start(const Memory& memory, Stepping stepping = Stepping::automatic,
                                  CacheForm cache = CacheForm::f32) const override;
  std::int64_t cache_bytes(std::int64_t sources, std::int64_t targets,
                           CacheForm cache) const override {
    return decoder.cache_bytes(targets, sources, cache);
  }
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t source_vocabulary() const override { return config_.source_vocabulary; }
  std::int64_t target_vocabulary() const override { return config_.target_vocabulary; }
  std::int64_t max_source() const override { return source.max_length(); }
  std::int64_t max_target() const override { return target.max_length(); }

  /// Whether every attention of the decoder can go step by step.
  bool can_step() const;
  const Config& config() const { return config_; }

  TextEmbedding source, target;
  Stack encoder, decoder;
  OutputLayer output;  // tied to the target's embeddings, or its own
  std::optional<CopyGate> copy_gate;

 private:
  Config config_;
};

inline constexpr ModelKind kTransformer = model_kind<Transformer>(
    "transformer", "translate: the encoder-decoder Transformer", Task::translate, "translator");

}  // namespace heed
