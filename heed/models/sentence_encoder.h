// A sentence encoder (Reimers and Gurevych 2019): Transformer layers and a vector made of a text's
// positions, so that texts with similar meanings have vectors in similar directions.
#pragma once

#include <optional>
#include <vector>

#include "heed/models/text_encoder.h"
#include "heed/nn/linear.h"

namespace heed {

struct SentenceEncoderConfig {
  TextEncoderConfig encoder = {};
  Pooling pooling = Pooling::mean;
  bool normalize = true;        // vectors to length 1
  std::int64_t projection = 0;  // features of a dense layer after pooling; 0: no such layer
  Activation projection_activation = Activation::none;
  bool projection_bias = true;
  std::int64_t max_tokens = 0;  // tokens read of a text; 0: as many as the position code has

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return encoder.attentions(); }
};

/// Parameters "tokens" (embeddings), "encoder" (a stack) and "projection" (if there is one).
class SentenceEncoder : public EncodingModel {
 public:
  using Config = SentenceEncoderConfig;
  explicit SentenceEncoder(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor states(const TextBatch& batch,
                std::vector<LayerWeights>* weights = nullptr) const override {
    return text(batch, weights);
  }
  /// A text without tokens has the vector 0 before the projection.
  Tensor vectors(const Tensor& states, const Tensor& lengths,
                 const VectorOptions& options = {}) const override;
  std::int64_t vocabulary() const override { return config_.encoder.vocabulary; }
  std::int64_t vector_size() const override;
  std::int64_t max_length() const override;

  const Config& config() const { return config_; }

  TextEncoder text;
  std::optional<Linear> projection;  // with its activation

 private:
  Config config_;
};

inline constexpr ModelKind kSentenceEncoder = model_kind<SentenceEncoder>(
    "sentence_encoder", "embed: Transformer layers and a vector of their outputs", Task::embed);

}  // namespace heed
