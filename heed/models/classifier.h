// A classifier of texts without decoder: Transformer layers, the mean of a text's positions, and a
// linear map to scores of the classes.
#pragma once

#include <string>
#include <vector>

#include "heed/models/stack.h"
#include "heed/models/text_embedding.h"
#include "heed/nn/linear.h"

namespace heed {

struct ClassifierConfig {
  std::int64_t vocabulary = 0;
  std::int64_t classes = 0;
  std::int64_t embed = 128;
  std::int64_t heads = 4;
  std::int64_t hidden = 256;
  std::int64_t layers = 2;
  FeedForwardKind activation = FeedForwardKind::gelu;
  bool norm_first = true;
  double dropout = 0.1;
  std::string attention = "multi_head";
  std::string positions = "sinusoidal";

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters "tokens" (embeddings), "encoder" (a stack) and "scores".
class Classifier : public Module {
 public:
  using Config = ClassifierConfig;
  explicit Classifier(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// ids [B, T], lengths i64 [B] (undefined: all of T) -> scores of the classes [B, C], before the
  /// softmax. A text without tokens has the scores of an empty mean, 0.
  Tensor operator()(const Tensor& ids, const Tensor& lengths = {},
                    std::vector<LayerWeights>* weights = nullptr) const;

  const Config& config() const { return config_; }

  TextEmbedding tokens;
  EncoderStack encoder;
  Linear scores;

 private:
  Config config_;
};

}  // namespace heed
