// A classifier of texts without decoder: Transformer layers, the mean of a text's positions, and a
// linear map to scores of the classes.
#pragma once

#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"
#include "heed/nn/linear.h"

namespace heed {

struct ClassifierConfig {
  std::int64_t vocabulary = 0;
  std::int64_t classes = 0;
  std::int64_t layers = 2;
  BlockConfig block = default_block();

  /// A small encoder: pre-norm, GELU.
  static BlockConfig default_block();

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return {block.attention}; }
};

/// Parameters "tokens" (embeddings), "encoder" (a stack) and "scores".
class Classifier : public ClassificationModel {
 public:
  using Config = ClassifierConfig;
  explicit Classifier(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// The mean of a text without tokens is 0.
  Tensor operator()(const Tensor& ids, const Tensor& lengths = {},
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t classes() const override { return config_.classes; }
  std::int64_t max_length() const override { return tokens.max_length(); }

  const Config& config() const { return config_; }

  TextEmbedding tokens;
  Stack encoder;
  Linear scores;

 private:
  Config config_;
};

inline constexpr ModelKind kClassifier = model_kind<Classifier>(
    "classifier", "classify: Transformer layers and the mean of their outputs", Task::classify);

}  // namespace heed
