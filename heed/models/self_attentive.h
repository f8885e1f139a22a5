// The self-attentive classifier (Lin et al. 2017, A Structured Self-attentive Sentence Embedding):
// a bidirectional LSTM or GRU reads a text, attention pooling makes R vectors of its states, and a
// dense layer and a linear map turn them into scores of the classes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/attention/variants/pooling.h"
#include "heed/models/model_kind.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"
#include "heed/nn/rnn.h"

namespace heed {

struct SelfAttentiveConfig {
  std::int64_t vocabulary = 0;
  std::int64_t classes = 0;
  std::int64_t embed = 128;
  Cell cell = Cell::lstm;
  std::int64_t layers = 1;
  std::int64_t hidden = 128;        // of one direction
  std::int64_t hops = 8;            // R: vectors of a text
  std::int64_t score_hidden = 128;  // features of tanh(W1 H^T)
  double penalty = 1.0;             // factor of |A A^T - I|^2 in training
  std::int64_t dense = 0;           // features of a ReLU layer before the scores; 0: no such layer
  double dropout = 0.0;             // of embeddings, between layers, and of what scores read

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "tokens" (embeddings), "encoder" (cells named as in PyTorch), "pooling", "dense" (if
/// there is one) and "scores".
class SelfAttentive : public ClassificationModel {
 public:
  using Config = SelfAttentiveConfig;
  explicit SelfAttentive(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// `weights` receives one entry, whose `cross` are the weights of the hops, [B, 1, R, T].
  Tensor operator()(const TextBatch& batch,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  Judged judge(const TextBatch& batch) const override;
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t classes() const override { return config_.classes; }
  std::int64_t max_length() const override;

  const Config& config() const { return config_; }

  Embedding tokens;
  std::unique_ptr<Recurrent> encoder;
  AttentionPooling pooling;
  std::optional<Linear> dense;
  Dropout dropout;
  Linear scores;

 private:
  Tensor states(const TextBatch& batch) const;
  Tensor score(const Tensor& vectors) const;

  Config config_;
};

inline constexpr ModelKind kSelfAttentive = model_kind<SelfAttentive>(
    "self_attentive", "classify: a recurrent encoder and attention pooling in several hops",
    Task::classify);

}  // namespace heed
