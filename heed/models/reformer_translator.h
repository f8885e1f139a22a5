// Reformer as an encoder and a decoder (Kitaev, Kaiser and Levskaya 2020, section 5), for long
// sources and targets. Both are reversible stacks. A layer of the decoder has three parts, which
// change the two streams in turn: causal self-attention, attention to the source, feed-forward
// network. As in Trax, the mean of both streams is the output of a stack, so it has the features of
// an embedding and matrices can be tied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/reformer_block.h"
#include "heed/models/tied.h"

namespace heed {

struct ReformerTranslatorConfig {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  /// The self-attention of each layer: "lsh", "local" (keys of the block) or "full" (multi-head).
  std::string encoder_layers = "local lsh local lsh local lsh";
  std::string decoder_layers = "local lsh local lsh local lsh";
  ReformerBlock block = {};
  AttentionChoice cross_attention = {};
  Tied tied = Tied::three;

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const;
  ReversibleStackConfig encoder_stack() const;
  ReversibleStackConfig decoder_stack() const;
};

/// Parameters "source", "target" (embeddings), "encoder", "decoder" (reversible stacks),
/// "output.weight" [V, E] and "output.bias" [V]; tied ones are one tensor under several names.
class ReformerTranslator : public TranslationModel {
 public:
  using Config = ReformerTranslatorConfig;
  explicit ReformerTranslator(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Memory encode(const Tensor& source, const Tensor& lengths = {},
                std::vector<LayerWeights>* weights = nullptr) const override;
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const override;
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
  ReversibleStack encoder, decoder;
  OutputLayer output;  // tied to the target's embeddings, or its own

 private:
  Config config_;
};

inline constexpr ModelKind kReformerTranslator = model_kind<ReformerTranslator>(
    "reformer_translator",
    "translate: a Reformer of an encoder and a decoder, reversible layers with hashed and local "
    "attention",
    Task::translate);

}  // namespace heed
