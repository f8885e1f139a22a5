#include "heed/models/classifier.h"

#include "heed/base/error.h"
#include "heed/models/masked_mean.h"

namespace heed {
namespace {

const ClassifierConfig& checked(const ClassifierConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0 && config.classes > 0,
             "[classifier] a vocabulary of {} and {} classes: give both sizes", config.vocabulary,
             config.classes);
  return config;
}

}  // namespace

BlockConfig ClassifierConfig::default_block() {
  return {.embed = 128,
          .heads = 4,
          .hidden = 256,
          .norm = {.first = true},
          .activation = FeedForwardKind::gelu};
}

void ClassifierConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
  field("layers", layers, "number of layers", {.min = 1, .max = kMaxLayers});
  block.fields(field);
}

void ClassifierConfig::validate() const {
  block.validate();
  HEED_CHECK(layers >= 1, "[classifier] {} layers: at least one is needed", layers);
  check_attention("classifier", {.key = "attention"}, block.attention);
  check_used("classifier", block, default_block(), attentions());
  block.self_attention_of_layer();
}

void ClassifierConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
  classes = sizes.classes;
}

Classifier::Classifier(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary,
              .embed = config.block.embed,
              .dropout = config.block.dropout,
              .position = config.block.positions.config()},
             generator),
      encoder({.layers = config.layers, .block = config.block}, generator),
      scores({.in = config.block.embed, .out = config.classes}, generator),
      config_(config) {}

ModelChoice Classifier::choice() const { return choice_of<Classifier>(kClassifier, config_); }

void Classifier::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("encoder", encoder);
  visitor("scores", scores);
}

Tensor Classifier::operator()(const Tensor& ids, const Tensor& lengths,
                              std::vector<LayerWeights>* weights) const {
  const Tensor x = encoder({.x = tokens(ids), .lengths = lengths}, weights);  // [B, T, E]
  return scores(masked_mean(x, lengths));                                     // [B, C]
}

}  // namespace heed
