// A model of masked tokens (Devlin et al. 2019, BERT): Transformer layers in which every position
// attends to all, and at each position scores of the token that stands there.
#pragma once

#include <vector>

#include "heed/models/text_encoder.h"
#include "heed/nn/linear.h"

namespace heed {

struct MaskedModelConfig {
  TextEncoderConfig encoder = {};
  Activation head = Activation::gelu;  // of the dense layer before the output
  bool tied = true;                    // embeddings and output share one matrix

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return encoder.attentions(); }
};

/// Parameters "tokens" (embeddings), "encoder" (a stack), "head.dense", "head.norm" and "output"
/// with "weight" [V, E] and "bias" [V]; if tied, the weight is another name of
/// "tokens.tokens.weight".
class MaskedModel : public FillingModel {
 public:
  using Config = MaskedModelConfig;
  explicit MaskedModel(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const TextBatch& batch,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t vocabulary() const override { return config_.encoder.vocabulary; }
  std::int64_t max_length() const override { return text.max_length(); }

  const Config& config() const { return config_; }

  TextEncoder text;
  Linear dense;  // with its activation
  Norm norm;
  OutputLayer output;  // tied to the embeddings, or its own

 private:
  Config config_;
};

inline constexpr ModelKind kMaskedModel = model_kind<MaskedModel>(
    "masked_model", "fill: Transformer layers that predict masked tokens", Task::fill);

}  // namespace heed
