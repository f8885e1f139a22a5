#include "heed/models/reader.h"

#include <limits>

#include "heed/attention/variants/input_checks.h"
#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/nn/init.h"
#include "heed/ops/choose.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

const ReaderConfig& checked(const ReaderConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0, "[reader] a vocabulary of {}: give its size",
             config.vocabulary);
  return config;
}

std::unique_ptr<Recurrent> reader_layer(const ReaderConfig& config, Generator& generator) {
  return make_recurrent(config.cell,
                        {.input = config.embed, .hidden = config.hidden, .bidirectional = true},
                        generator);
}

// softmax_i(h_i . q) over the valid words: states [B, T, E], query [B, E] -> [B, T].
Tensor attention_sum(const Tensor& states, const Tensor& query, const Tensor& lengths) {
  Tensor scores = squeeze(matmul(states, unsqueeze(query, 2)), 2);  // [B, T]
  if (lengths.defined()) {
    scores =
        where(within(lengths, states.size(1)), scores, -std::numeric_limits<double>::infinity());
  }
  return softmax(scores);  // [B, T]
}

}  // namespace

void ReaderConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "words; 0: the size of the vocabulary", {.min = 0});
  field("padding", padding, "word whose embedding is 0; none: as in the vocabulary", {.min = 0});
  field("embed", embed, "features of an embedded word", {.min = 1, .max = kMaxFeatures});
  field("hidden", hidden, "features of the states of each direction",
        {.min = 1, .max = kMaxFeatures});
  field("cell", cell, "kind of the recurrent layers");
  field("attention", attention,
        "how question and passage are compared: every word of the question, or its last states");
  field("dropout", dropout, "dropout probability of embedded words", {.min = 0, .max = 1});
}

void ReaderConfig::validate() const {
  HEED_CHECK(embed >= 1 && hidden >= 1,
             "[reader] words of {} features, states of {}: at least 1 of each", embed, hidden);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[reader] dropout {}: it must be at least 0 and below 1", dropout);
}

void ReaderConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
  padding = sizes.padding;
}

Reader::Reader(const Config& config, Generator& generator)
    : words({.vocabulary = checked(config).vocabulary,
             .size = config.embed,
             .padding = config.padding},
            generator),
      dropout({.p = config.dropout}),
      passage(reader_layer(config, generator)),
      question(reader_layer(config, generator)),
      config_(config),
      over_attention_({.embed = 2 * config.hidden}, generator) {
  constexpr double kRange = 0.1;  // as in Kadlec et al.
  init::uniform(words.weight.data, -kRange, kRange, generator);
  if (!config.padding) return;
  Tensor row = view::select(words.weight.data, 0, *config.padding);  // [E]
  init::zeros(row);
}

ModelChoice Reader::choice() const { return choice_of<Reader>(kReader, config_); }

void Reader::visit(ParameterVisitor& visitor) {
  visitor("words", words);
  visitor("dropout", dropout);
  visitor("passage", passage);
  visitor("question", question);
}

Tensor Reader::operator()(const Passages& in, std::vector<LayerWeights>* weights) const {
  HEED_CHECK(
      in.words.rank() == 2 && in.questions.rank() == 2 && in.words.size(0) == in.questions.size(0),
      "[reader] words {} and questions {}: they must be [B, T] and [B, S]",
      to_string(in.words.shape()), to_string(in.questions.shape()));
  const Tensor states =
      (*passage)(dropout(words(in.words)), {.lengths = in.lengths}).output;  // [B, T, 2 H]
  const RecurrentResult asked =
      (*question)(dropout(words(in.questions)), {.lengths = in.question_lengths});
  if (weights != nullptr) weights->assign(1, {});
  if (config_.attention == ReaderAttention::over_attention) {
    return over_attention_({.x = asked.output,  // [B, S, 2 H]
                            .memory = states,
                            .lengths = in.lengths,
                            .weights = weights != nullptr ? &weights->front().cross : nullptr},
                           in.question_lengths);  // [B, T]
  }
  const Tensor query =
      concat({select(asked.state, 0, 0), select(asked.state, 0, 1)}, 1);  // [B, 2 H]
  const Tensor p = attention_sum(states, query, in.lengths);              // [B, T]
  if (weights != nullptr) {
    weights->front().cross = unsqueeze(unsqueeze(p.detach(), 1), 1);  // [B, 1, 1, T]
  }
  return p;
}

}  // namespace heed
