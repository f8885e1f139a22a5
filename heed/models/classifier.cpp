#include "heed/models/classifier.h"

#include "heed/base/error.h"

namespace heed {
namespace {

const ClassifierConfig& checked(const ClassifierConfig& config) {
  config.validate();
  HEED_CHECK(config.encoder.vocabulary > 0 && config.classes > 0,
             "[classifier] a vocabulary of {} and {} classes: give both sizes",
             config.encoder.vocabulary, config.classes);
  return config;
}

}  // namespace

void ClassifierConfig::fields(io::Fields& field) {
  encoder.fields(field);
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
  field("pooling", pooling, "states that make the vector of a text");
  field("head", head, "activation of a dense layer before the scores; none: no such layer");
}

void ClassifierConfig::validate() const { encoder.validate("classifier"); }

void ClassifierConfig::set_sizes(const ModelSizes& sizes) {
  encoder.vocabulary = sizes.target_vocabulary;
  classes = sizes.classes;
}

Classifier::Classifier(const Config& config, Generator& generator)
    : text(checked(config).encoder, generator),
      dropout({.p = config.encoder.block.dropout}),
      scores({.in = config.encoder.block.embed, .out = config.classes}, generator),
      config_(config) {
  if (config.head == Activation::none) return;
  const std::int64_t E = config.encoder.block.embed;
  dense.emplace(LinearConfig{.in = E, .out = E, .activation = config.head}, generator);
}

ModelChoice Classifier::choice() const { return choice_of<Classifier>(kClassifier, config_); }

void Classifier::visit(ParameterVisitor& visitor) {
  text.visit(visitor);
  visitor("dense", dense);
  visitor("dropout", dropout);
  visitor("scores", scores);
}

Tensor Classifier::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  const Tensor x = text(batch, weights);                          // [B, T, E]
  const Tensor pooled = pool(x, batch.lengths, config_.pooling);  // [B, E]
  return scores(dense ? dropout((*dense)(pooled)) : pooled);      // [B, C]
}

}  // namespace heed
