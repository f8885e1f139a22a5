#include "heed/models/bag_of_words.h"

#include <limits>

#include "heed/base/error.h"
#include "heed/models/masked_mean.h"

namespace heed {
namespace {

const BagOfWordsConfig& checked(const BagOfWordsConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0 && config.classes > 0,
             "[bag_of_words] a vocabulary of {} and {} classes: give both sizes", config.vocabulary,
             config.classes);
  return config;
}

}  // namespace

void BagOfWordsConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
  field("embed", embed, "features of a token", {.min = 1, .max = 1 << 20});
  field("dropout", dropout, "dropout probability of the mean", {.min = 0, .max = 1});
}

void BagOfWordsConfig::validate() const {
  HEED_CHECK(embed >= 1, "[bag_of_words] embed {}: it must be at least 1", embed);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[bag_of_words] dropout {}: it must be at least 0 and below 1", dropout);
}

void BagOfWordsConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
  classes = sizes.classes;
}

BagOfWords::BagOfWords(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary, .size = config.embed}, generator),
      dropout({.p = config.dropout}),
      scores({.in = config.embed, .out = config.classes}, generator),
      config_(config) {}

void BagOfWords::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("dropout", dropout);
  visitor("scores", scores);
}

ModelChoice BagOfWords::choice() const { return choice_of<BagOfWords>(kBagOfWords, config_); }

Tensor BagOfWords::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->clear();                               // there is no attention
  return scores(dropout(masked_mean(tokens(batch.ids), batch.lengths)));  // [B, C]
}

std::int64_t BagOfWords::max_length() const { return std::numeric_limits<std::int64_t>::max(); }

}  // namespace heed
