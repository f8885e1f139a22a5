#include "heed/models/language_model.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/models/stack_decoding.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr double kDeviation = 0.02;  // as GPT-2's

// As GPT-2: matrices at the end of a residual branch start smaller, since every layer adds two.
void initialise(Stack& stack, Generator& generator) {
  const double small = kDeviation / std::sqrt(2.0 * static_cast<double>(stack.layers.size()));
  for (NamedTensor& parameter : stack.named_parameters()) {
    const std::string& name = parameter.name;
    const bool ends = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight") ||
                      name.ends_with("down_proj.weight");
    if (parameter.tensor.rank() == 2) {
      init::normal(parameter.tensor, ends ? small : kDeviation, generator);
    }
    if (name.ends_with("bias")) init::zeros(parameter.tensor);
  }
}

const LanguageModelConfig& checked(const LanguageModelConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0, "[language_model] a vocabulary of {}: give its size",
             config.vocabulary);
  return config;
}

OutputLayer output_of(const LanguageModelConfig& config, const Weight& embeddings,
                      Generator& generator) {
  if (config.tied) return OutputLayer(embeddings, {}, config.output_soft_cap);
  Tensor weight = empty({config.vocabulary, config.block.embed});  // [V, E]
  init::normal(weight, kDeviation, generator);
  return OutputLayer(Weight(weight.requires_grad()), {}, config.output_soft_cap);
}

}  // namespace

BlockConfig LanguageModelConfig::default_block() {
  return {.embed = 384,
          .heads = 6,
          .norm = {.first = true},
          .activation = FeedForwardKind::gelu,
          .bias = false,
          .dropout = 0.0,
          .positions = "learned max_length=256"};
}

void LanguageModelConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("layers", layers, "number of layers", {.min = 1, .max = kMaxLayers});
  block.fields(field);
  field("tied", tied, "whether embeddings and output share one matrix");
  field("scaled_embeddings", scaled_embeddings,
        "whether embeddings are multiplied by the square root of embed");
  field("output_soft_cap", output_soft_cap, "c: scores are c tanh(score / c); 0: as they are",
        {.min = 0});
  field("context", context, "maximum number of tokens of a text; 0: any that the positions allow",
        {.min = 0});
}

void LanguageModelConfig::validate() const {
  block.validate();
  for (const AttentionChoice& attention : attentions()) {
    check_attention("language_model", {.key = "attention", .causal = true}, attention);
  }
  check_used("language_model", block, default_block(), attentions());
  for (std::int64_t i = 0; i < std::ssize(block.layer_pattern) + 1; ++i) {
    block.of_layer(i).self_attention_of_layer();
  }
}

void LanguageModelConfig::set_sizes(const ModelSizes& sizes) {
  vocabulary = sizes.target_vocabulary;
}

LanguageModel::LanguageModel(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary,
              .embed = config.block.embed,
              .scaled = config.scaled_embeddings,
              .dropout = config.block.dropout,
              .position = config.block.positions.config()},
             generator),
      decoder({.layers = config.layers, .block = config.block}, generator),
      output(tokens.tokens.weight),
      config_(config) {
  initialise(decoder, generator);
  output = output_of(config, tokens.tokens.weight, generator);
}

ModelChoice LanguageModel::choice() const {
  return choice_of<LanguageModel>(kLanguageModel, config_);
}

void LanguageModel::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("decoder", decoder);
  visitor("output", output);
}

Tensor LanguageModel::operator()(const Tensor& ids, std::vector<LayerWeights>* weights) const {
  return decoder({.x = tokens(ids), .causal = true}, weights);  // [B, T, E]
}

std::int64_t LanguageModel::max_length() const {
  const std::int64_t positions = tokens.max_length();
  return config_.context > 0 ? std::min(config_.context, positions) : positions;
}

std::unique_ptr<Decoding> LanguageModel::start(std::int64_t batch, CacheForm cache) const {
  return decode_with_state(tokens, decoder, {.batch = batch, .cache = cache});
}

}  // namespace heed
