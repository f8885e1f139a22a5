#include "heed/models/classifier.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

const ClassifierConfig& checked(const ClassifierConfig& config) {
  config.validate();
  HEED_CHECK(config.encoder.vocabulary > 0 && config.classes > 0,
             "[classifier] a vocabulary of {} and {} classes: give both sizes",
             config.encoder.vocabulary, config.classes);
  return config;
}

// Features of the vector that is made of a text.
std::int64_t vector_size(const ClassifierConfig& config) {
  return config.encoder.block.embed * std::max<std::int64_t>(config.hops, 1);
}

}  // namespace

void ClassifierConfig::fields(io::Fields& field) {
  encoder.fields(field);
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
  field("pooling", pooling, "states that make the vector of a text");
  field("hops", hops,
        "attention pooling with this many learned queries, instead of pooling; 0: none",
        {.min = 0});
  field("penalty", penalty,
        "factor of the squared norm of A A^T - I, which keeps hops apart, in training", {.min = 0});
  field("head", head, "activation of a dense layer before the scores; none: no such layer");
}

void ClassifierConfig::validate() const {
  encoder.validate("classifier");
  HEED_CHECK(hops >= 0 && penalty >= 0.0 && std::isfinite(penalty),
             "[classifier] hops {}, penalty {}: neither may be negative", hops, penalty);
}

void ClassifierConfig::set_sizes(const ModelSizes& sizes) {
  encoder.vocabulary = sizes.target_vocabulary;
  classes = sizes.classes;
}

Classifier::Classifier(const Config& config, Generator& generator)
    : text(checked(config).encoder, generator),
      dropout({.p = config.encoder.block.dropout}),
      scores(
          {.in = config.head == Activation::none ? vector_size(config) : config.encoder.block.embed,
           .out = config.classes},
          generator),
      config_(config) {
  const std::int64_t E = config.encoder.block.embed;
  if (config.head != Activation::none) {
    dense.emplace(LinearConfig{.in = vector_size(config), .out = E, .activation = config.head},
                  generator);
  }
  if (config.hops > 0) {
    attention_pooling.emplace(PoolingConfig{.embed = E, .hops = config.hops}, generator);
  }
}

ModelChoice Classifier::choice() const { return choice_of<Classifier>(kClassifier, config_); }

void Classifier::visit(ParameterVisitor& visitor) {
  text.visit(visitor);
  visitor("attention_pooling", attention_pooling);
  visitor("dense", dense);
  visitor("dropout", dropout);
  visitor("scores", scores);
}

Tensor Classifier::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  const Tensor x = text(batch, weights);  // [B, T, E]
  if (!attention_pooling) return score(pool(x, batch.lengths, config_.pooling));
  AttentionInput in{.x = x, .lengths = batch.lengths};
  if (weights != nullptr) {
    if (weights->empty()) weights->emplace_back();
    in.weights = &weights->back().cross;
  }
  return score((*attention_pooling)(in));
}

Judged Classifier::judge(const TextBatch& batch) const {
  if (!attention_pooling || config_.penalty == 0.0) return {(*this)(batch)};
  const AttentionPooling::Pooled pooled =
      attention_pooling->pool({.x = text(batch), .lengths = batch.lengths});
  return {.scores = score(pooled.vectors),
          .penalty = pooling_penalty(pooled.weights) * config_.penalty};
}

// From the vector [B, E], or those of the hops [B, R, E].
Tensor Classifier::score(const Tensor& vector) const {
  const Tensor flat = reshape(vector, {vector.size(0), vector_size(config_)});  // [B, R E]
  return scores(dense ? dropout((*dense)(flat)) : flat);                        // [B, C]
}

}  // namespace heed
