#include "heed/models/memory_network.h"

#include <limits>

#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/nn/init.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

const MemoryNetworkConfig& checked(const MemoryNetworkConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0, "[memory_network] a vocabulary of {}: give its size",
             config.vocabulary);
  return config;
}

// A table with normal numbers; the row of padding stays 0.
Embedding memory_table(std::int64_t rows, std::optional<std::int64_t> padding,
                       const MemoryNetworkConfig& config, Generator& generator) {
  Embedding table({.vocabulary = rows, .size = config.embed, .padding = padding}, generator);
  init::normal(table.weight.data, config.init_deviation, generator);
  if (padding) {
    Tensor row = view::select(table.weight.data, 0, *padding);  // [E]
    init::zeros(row);
  }
  return table;
}

Linear memory_map(std::int64_t out, const MemoryNetworkConfig& config, Generator& generator) {
  Linear map({.in = config.embed, .out = out, .bias = false}, generator);
  init::normal(map.weight.data, config.init_deviation, generator);
  return map;
}

void check_stories(const Stories& in, std::int64_t oldest) {
  const auto& [sentences, ages, questions] = in;
  HEED_CHECK(sentences.rank() == 3 && ages.rank() == 2 && questions.rank() == 2 &&
                 ages.size(0) == sentences.size(0) && ages.size(1) == sentences.size(1) &&
                 questions.size(0) == sentences.size(0),
             "[memory_network] sentences {}, ages {} and questions {}: they must be [B, M, W], "
             "[B, M] and [B, S]",
             to_string(sentences.shape()), to_string(ages.shape()), to_string(questions.shape()));
  for (const std::int64_t age : ages.to_vector<std::int64_t>()) {
    HEED_CHECK(age >= 0 && age <= oldest,
               "[memory_network] a sentence of age {}: ages are from 1 to {}, the model's "
               "sentences, and 0 where there is none",
               age, oldest);
  }
}

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void MemoryNetworkConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "words; 0: the size of the vocabulary", {.min = 0});
  field("padding", padding, "word whose embedding is 0; none: as in the vocabulary", {.min = 0});
  field("embed", embed, "features of a word", {.min = 1, .max = kMaxFeatures});
  field("hops", hops, "times that the memory is read", {.min = 1, .max = kMaxLayers});
  field("sentences", sentences, "sentences before a question that are kept, at most",
        {.min = 1, .max = kMaxFeatures});
  field("tying", tying, "which tables of embeddings are one");
  field("position_encoding", position_encoding,
        "whether words are weighted by their position in the sentence");
  field("linear_start", linear_start, "first epochs of training, without softmax over the memory",
        {.min = 0});
  field("noise", noise, "share of empty sentences that training puts into stories at random",
        {.min = 0, .max = 1});
  field("init_deviation", init_deviation, "standard deviation of new parameters", {.min = 0});
}

void MemoryNetworkConfig::validate() const {
  HEED_CHECK(embed >= 1 && hops >= 1 && sentences >= 1,
             "[memory_network] {} features, {} hops, {} sentences: at least 1 of each", embed, hops,
             sentences);
  HEED_CHECK(linear_start >= 0 && noise >= 0.0 && noise <= 1.0 && init_deviation > 0.0,
             "[memory_network] linear_start {}, noise {} and init_deviation {}: at least 0, from 0 "
             "to 1, and above 0",
             linear_start, noise, init_deviation);
}

void MemoryNetworkConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
  padding = sizes.padding;
}

// ---- the model ----------------------------------------------------------------------------------

MemoryNetwork::MemoryNetwork(const Config& config, Generator& generator)
    : config_(checked(config)) {
  const bool is_adjacent = config.tying == Tying::adjacent;
  const std::int64_t tables = is_adjacent ? config.hops + 1 : 2;
  for (std::int64_t i = 0; i < tables; ++i) {
    words.push_back(memory_table(config.vocabulary, config.padding, config, generator));
    ages.push_back(memory_table(config.sentences + 1, 0, config, generator));
  }
  if (is_adjacent) return;
  question.emplace(memory_table(config.vocabulary, config.padding, config, generator));
  between.emplace(memory_map(config.embed, config, generator));
  answers.emplace(memory_map(config.vocabulary, config, generator));
}

ModelChoice MemoryNetwork::choice() const {
  return choice_of<MemoryNetwork>(kMemoryNetwork, config_);
}

void MemoryNetwork::visit(ParameterVisitor& visitor) {
  visitor("words", words);
  visitor("ages", ages);
  visitor("question", question);
  visitor("between", between);
  visitor("answers", answers);
}

// l for the words of sentences […, W]: […, W, E], or 1 without encoding. The vector of padding is
// 0, so its weight does not matter.
Tensor MemoryNetwork::position_weights(const Tensor& ids, DType dtype) const {
  if (!config_.position_encoding) return scalar(1.0, dtype);
  const std::int64_t W = ids.size(-1), E = config_.embed;
  const std::vector<std::int64_t> tokens = ids.to_vector<std::int64_t>();
  Tensor shares = empty(ids.shape(), DType::f64);  // j / J
  double* share = shares.mutable_data<double>();
  for (auto row = tokens.begin(); row != tokens.end(); row += W) {
    std::int64_t J = W;
    while (config_.padding && J > 1 && row[J - 1] == *config_.padding) --J;
    for (std::int64_t j = 1; j <= W; ++j)
      *share++ = static_cast<double>(j) / static_cast<double>(J);
  }
  Tensor features = empty({E}, DType::f64);  // k / d
  for (std::int64_t k = 1; k <= E; ++k) {
    features.mutable_data<double>()[k - 1] = static_cast<double>(k) / static_cast<double>(E);
  }
  const Tensor at = unsqueeze(cast_data(shares, dtype), -1);                  // […, W, 1]
  return 2.0 * ((1.0 - at) - cast_data(features, dtype) * (1.0 - 2.0 * at));  // […, W, E]
}

// The vectors of sentences […, W]: […, E].
Tensor MemoryNetwork::sums_of(const Embedding& table, const Tensor& ids,
                              const Tensor& positions) const {
  return sum(table(ids) * positions, {-2});
}

Tensor MemoryNetwork::operator()(const Stories& in, std::vector<LayerWeights>* weights) const {
  check_stories(in, config_.sentences);
  const bool is_adjacent = config_.tying == Tying::adjacent;
  const DType dtype = ages[0].weight.dtype();
  const Tensor at = position_weights(in.sentences, dtype);                      // [B, M, W, E]
  const Tensor seen = unsqueeze(greater(in.ages, scalar(0.0, DType::i64)), 1);  // [B, 1, M]
  const auto memory = [&](std::size_t table) {
    return sums_of(words[table], in.sentences, at) + ages[table](in.ages);  // [B, M, E]
  };
  const bool is_linear = training() && epoch_ < config_.linear_start;
  const double hidden = is_linear ? 0.0 : -std::numeric_limits<double>::infinity();

  Tensor u = unsqueeze(
      sums_of(question ? *question : words[0], in.questions, position_weights(in.questions, dtype)),
      1);  // [B, 1, E]
  if (weights != nullptr) weights->clear();
  Tensor m = memory(0), c = memory(1);  // [B, M, E]
  for (std::int64_t hop = 0; hop < config_.hops; ++hop) {
    if (is_adjacent && hop > 0) m = c, c = memory(static_cast<std::size_t>(hop) + 1);
    const Tensor scores = where(seen, matmul(u, transpose(m)), hidden);  // [B, 1, M]
    const Tensor p = is_linear ? scores : softmax(scores);               // [B, 1, M]
    if (weights != nullptr) weights->push_back({.self = {}, .cross = unsqueeze(p.detach(), 1)});
    u = (between ? (*between)(u) : u) + matmul(p, c);  // [B, 1, E]
  }
  const Tensor state = squeeze(u, 1);                                       // [B, E]
  return answers ? (*answers)(state) : words.back().weight.product(state);  // [B, V]
}

}  // namespace heed
