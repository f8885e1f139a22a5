// A linear classifier of texts (fastText, Joulin et al. 2017): the mean of a text's embeddings and
// a linear layer. It has no attention and knows no order of words; it is the baseline that a
// classifier with attention should beat.
#pragma once

#include <vector>

#include "heed/models/model_kind.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"

namespace heed {

struct BagOfWordsConfig {
  std::int64_t vocabulary = 0;
  std::int64_t classes = 0;
  std::int64_t embed = 64;
  double dropout = 0.0;  // of the mean

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "tokens" (embeddings) and "scores".
class BagOfWords : public ClassificationModel {
 public:
  using Config = BagOfWordsConfig;
  explicit BagOfWords(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const TextBatch& batch,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t classes() const override { return config_.classes; }
  std::int64_t max_length() const override;

  Embedding tokens;
  Dropout dropout;
  Linear scores;

 private:
  Config config_;
};

inline constexpr ModelKind kBagOfWords = model_kind<BagOfWords>(
    "bag_of_words", "classify: the mean of the embeddings, without attention", Task::classify);

}  // namespace heed
