#include "heed/models/self_attentive.h"

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

const SelfAttentiveConfig& checked(const SelfAttentiveConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0 && config.classes > 0,
             "[self_attentive] a vocabulary of {} and {} classes: give both sizes",
             config.vocabulary, config.classes);
  return config;
}

}  // namespace

void SelfAttentiveConfig::fields(io::Fields& field) {
  constexpr std::int64_t kMost = 1 << 20;
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
  field("embed", embed, "features of a token", {.min = 1, .max = kMost});
  field("cell", cell, "kind of the recurrent layers");
  field("layers", layers, "recurrent layers", {.min = 1});
  field("hidden", hidden, "features of a state, in each direction", {.min = 1, .max = kMost});
  field("hops", hops, "vectors of a text, each with attention of its own", {.min = 1});
  field("score_hidden", score_hidden, "features of the hidden layer of the scores of positions",
        {.min = 1, .max = kMost});
  field("penalty", penalty,
        "factor of the squared norm of A A^T - I, which keeps hops apart, in training", {.min = 0});
  field("dense", dense, "features of a ReLU layer before the scores; 0: no such layer",
        {.min = 0, .max = kMost});
  field("dropout", dropout,
        "dropout probability of embeddings, between layers, and of the input of the scores",
        {.min = 0, .max = 1});
}

void SelfAttentiveConfig::validate() const {
  HEED_CHECK(embed >= 1 && layers >= 1 && hidden >= 1 && hops >= 1 && score_hidden >= 1,
             "[self_attentive] embed {}, layers {}, hidden {}, hops {}, score_hidden {}: all must "
             "be at least 1",
             embed, layers, hidden, hops, score_hidden);
  HEED_CHECK(dense >= 0, "[self_attentive] dense {}: give its features, or 0 for no such layer",
             dense);
  HEED_CHECK(penalty >= 0.0 && std::isfinite(penalty),
             "[self_attentive] penalty {}: it must be at least 0", penalty);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[self_attentive] dropout {}: it must be at least 0 and below 1", dropout);
}

void SelfAttentiveConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
  classes = sizes.classes;
}

SelfAttentive::SelfAttentive(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary, .size = config.embed}, generator),
      encoder(make_recurrent(config.cell,
                             {.input = config.embed,
                              .hidden = config.hidden,
                              .layers = config.layers,
                              .bidirectional = true,
                              .dropout = config.dropout},
                             generator)),
      pooling({.embed = 2 * config.hidden, .hidden = config.score_hidden, .hops = config.hops},
              generator),
      dropout({.p = config.dropout}),
      scores({.in = config.dense > 0 ? config.dense : config.hops * 2 * config.hidden,
              .out = config.classes},
             generator),
      config_(config) {
  if (config.dense == 0) return;
  dense.emplace(LinearConfig{.in = config.hops * 2 * config.hidden,
                             .out = config.dense,
                             .activation = Activation::relu},
                generator);
}

void SelfAttentive::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("encoder", encoder);
  visitor("pooling", pooling);
  visitor("dense", dense);
  visitor("dropout", dropout);
  visitor("scores", scores);
}

ModelChoice SelfAttentive::choice() const {
  return choice_of<SelfAttentive>(kSelfAttentive, config_);
}

Tensor SelfAttentive::states(const TextBatch& batch) const {
  const Tensor x = dropout(tokens(batch.ids));              // [B, T, E]
  return (*encoder)(x, {.lengths = batch.lengths}).output;  // [B, T, 2 H]
}

Tensor SelfAttentive::score(const Tensor& vectors) const {
  const Tensor flat = dropout(
      reshape(vectors, {vectors.size(0), vectors.size(1) * vectors.size(2)}));  // [B, R 2 H]
  return scores(dense ? dropout((*dense)(flat)) : flat);                        // [B, C]
}

Tensor SelfAttentive::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  AttentionInput in{.x = states(batch), .lengths = batch.lengths};
  if (weights != nullptr) {
    weights->assign(1, {});
    in.weights = &weights->front().cross;
  }
  return score(pooling(in));  // [B, C]
}

Judged SelfAttentive::judge(const TextBatch& batch) const {
  if (config_.penalty == 0.0) return {(*this)(batch)};
  const AttentionPooling::Pooled pooled =
      pooling.pool({.x = states(batch), .lengths = batch.lengths});
  return {.scores = score(pooled.vectors),
          .penalty = pooling_penalty(pooled.weights) * config_.penalty};
}

std::int64_t SelfAttentive::max_length() const { return std::numeric_limits<std::int64_t>::max(); }

}  // namespace heed
