// A classifier of texts without decoder: Transformer layers, a vector made of a text's positions,
// and a linear map to scores of the classes, after a dense layer if there is one.
#pragma once

#include <optional>
#include <vector>

#include "heed/attention/variants/pooling.h"
#include "heed/models/text_encoder.h"
#include "heed/nn/linear.h"

namespace heed {

struct ClassifierConfig {
  TextEncoderConfig encoder = {};
  std::int64_t classes = 0;
  Pooling pooling = Pooling::mean;
  std::int64_t hops = 0;               // attention pooling by so many queries instead; 0: none
  double penalty = 0.0;                // factor of |A A^T - I|^2 of the hops in training
  Activation head = Activation::none;  // of a dense layer before the scores; none: no such layer

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return encoder.attentions(); }
};

/// Parameters "tokens" (embeddings), "encoder" (a stack), "attention_pooling" (if there are hops),
/// "dense" (if there is a head) and "scores".
class Classifier : public ClassificationModel {
 public:
  using Config = ClassifierConfig;
  explicit Classifier(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// The vector of a text without tokens is 0. With hops, `cross` of the last layer's weights are
  /// theirs, [B, 1, R, T].
  Tensor operator()(const TextBatch& batch,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  Judged judge(const TextBatch& batch) const override;
  std::int64_t vocabulary() const override { return config_.encoder.vocabulary; }
  std::int64_t classes() const override { return config_.classes; }
  std::int64_t max_length() const override { return text.max_length(); }

  const Config& config() const { return config_; }

  TextEncoder text;
  std::optional<AttentionPooling> attention_pooling;
  std::optional<Linear> dense;  // with its activation
  Dropout dropout;              // of the dense layer's result
  Linear scores;

 private:
  Tensor score(const Tensor& vector) const;

  Config config_;
};

inline constexpr ModelKind kClassifier = model_kind<Classifier>(
    "classifier", "classify: Transformer layers and a vector of their outputs", Task::classify);

}  // namespace heed
