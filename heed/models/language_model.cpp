#include "heed/models/language_model.h"

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/choice.h"
#include "heed/nn/init.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr double kDeviation = 0.02;  // as GPT-2's

StackConfig stack_of(const LanguageModelConfig& config) {
  const PositionConfig position = parse_positions(config.positions);
  return {.layers = config.layers,
          .layer = {.embed = config.embed,
                    .heads = config.heads,
                    .hidden = config.hidden > 0 ? config.hidden : 4 * config.embed,
                    .activation = config.activation,
                    .norm_first = config.norm_first,
                    .dropout = config.dropout,
                    .bias = config.bias,
                    .self_attention = with_positions(parse_attention(config.attention), position)},
          .norm = config.norm_first};
}

// As GPT-2: matrices that end in a residual sum are narrower, since every layer adds two of them.
void initialise(EncoderStack& stack, Generator& generator) {
  const double narrow = kDeviation / std::sqrt(2.0 * static_cast<double>(stack.layers.size()));
  for (NamedTensor& parameter : stack.named_parameters()) {
    const std::string& name = parameter.name;
    const bool ends = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight") ||
                      name.ends_with("down_proj.weight");
    if (parameter.tensor.rank() == 2) {
      init::normal(parameter.tensor, ends ? narrow : kDeviation, generator);
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

}  // namespace

void LanguageModelConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: as the vocabulary has", {.min = 0});
  field("embed", embed, "features of a position", {.min = 1});
  field("heads", heads, "heads of attention", {.min = 1});
  field("hidden", hidden, "features inside the feed-forward network; 0: four times embed",
        {.min = 0});
  field("layers", layers, "layers", {.min = 1});
  field("activation", activation, "inside the feed-forward network");
  field("norm_first", norm_first, "norms in front of the parts (pre-norm), not behind their sums");
  field("bias", bias, "whether linear maps and norms have biases");
  field("dropout", dropout, "share of elements set to 0 in training", {.min = 0, .max = 1});
  field("tied", tied, "whether embeddings and output are one matrix");
  field("attention", attention, "how positions attend to those before them");
  field("positions", positions, "how positions are told apart");
}

void LanguageModelConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && embed % heads == 0,
             "[language_model] embed {} is not a multiple of heads {}", embed, heads);
  const AttentionChoice choice = parse_attention(attention);
  const Traits& traits = find_mechanism(choice.name).traits;
  HEED_CHECK(traits.form == Form::sequence && traits.self && traits.causal,
             "[language_model] attention \"{}\": a language model needs one that maps a sequence "
             "to a sequence and knows causal; `heed list` shows what each does",
             attention);
  with_positions(choice, parse_positions(positions));
}

LanguageModel::LanguageModel(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary,
              .embed = config.embed,
              .scaled = false,
              .dropout = config.dropout,
              .position = parse_positions(config.positions)},
             generator),
      decoder(stack_of(config), generator),
      config_(config) {
  initialise(decoder, generator);
  output = tokens.tokens.weight;  // [V, E]
  if (!config.tied) {
    output = empty({config.vocabulary, config.embed});  // [V, E]
    init::normal(output, kDeviation, generator);
    output.requires_grad();
  }
}

void LanguageModel::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("decoder", decoder);
  visitor("output.weight", output);
}

Tensor LanguageModel::operator()(const Tensor& ids, std::vector<LayerWeights>* weights) const {
  return decoder({.x = tokens(ids), .causal = true}, weights);  // [B, T, E]
}

Tensor LanguageModel::scores(const Tensor& y) const { return linear(y, output); }

LanguageModel::Decoding LanguageModel::start(std::int64_t batch) const {
  const NoGrad no_grad;
  return {.state = decoder.start(batch)};
}

Tensor LanguageModel::step(const Tensor& ids, Decoding& decoding) const {
  const NoGrad no_grad;
  const Tensor x = tokens(ids, decoding.next);  // [B, T, E]
  decoding.next += ids.size(1);
  return decoder.step(x, decoding.state);  // [B, T, E]
}

}  // namespace heed
