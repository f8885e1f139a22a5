#include "heed/models/transformer.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/choice.h"
#include "heed/nn/init.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TextEmbeddingConfig embedding_of(const TransformerConfig& config, std::int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .embed = config.embed,
          .padding = config.padding,
          .dropout = config.dropout,
          .position = parse_positions(config.positions)};
}

StackConfig stack_of(const TransformerConfig& config, std::int64_t layers,
                     const std::string& self_attention) {
  const PositionConfig position = parse_positions(config.positions);
  return {.layers = layers,
          .layer = {.embed = config.embed,
                    .heads = config.heads,
                    .hidden = config.hidden,
                    .activation = config.activation,
                    .norm_first = config.norm_first,
                    .dropout = config.dropout,
                    .attention_dropout = config.attention_dropout,
                    .activation_dropout = config.activation_dropout,
                    .self_attention = with_positions(parse_attention(self_attention), position),
                    .cross_attention = parse_attention(config.cross_attention)},
          .norm = config.final_norm.value_or(config.norm_first)};
}

// As in fairseq: matrices by Glorot and Bengio, biases 0. Post-norm stacks do not start to learn at
// the rates they are trained with from wider ones.
void initialise(Module& stack, Generator& generator) {
  for (NamedTensor& parameter : stack.named_parameters()) {
    if (parameter.tensor.rank() == 2) init::xavier_uniform(parameter.tensor, generator);
    if (parameter.name.ends_with("bias")) init::zeros(parameter.tensor);
  }
}

const TransformerConfig& checked(const TransformerConfig& config) {
  config.validate();
  HEED_CHECK(config.source_vocabulary > 0 && config.target_vocabulary > 0,
             "[transformer] vocabularies of {} and {}: give the sizes of both",
             config.source_vocabulary, config.target_vocabulary);
  return config;
}

void check_form(std::string_view side, const std::string& text, bool cross) {
  const Mechanism& mechanism = find_mechanism(parse_attention(text).name);
  const Traits& traits = mechanism.traits;
  HEED_CHECK(traits.form == Form::sequence && (cross ? traits.cross : traits.self),
             "[transformer] {} \"{}\": a layer needs one that maps a sequence to a sequence {}; "
             "`heed list` shows what each does",
             side, text, cross ? "and asks a memory" : "of its own");
}

}  // namespace

void TransformerConfig::fields(io::Fields& field) {
  field("source_vocabulary", source_vocabulary, "tokens of the source; 0: as the vocabulary has",
        {.min = 0});
  field("target_vocabulary", target_vocabulary, "tokens of the target; 0: as the vocabulary has",
        {.min = 0});
  field("padding", padding, "the token that fills rows; none: as the vocabulary has");
  field("embed", embed, "features of a position", {.min = 1});
  field("heads", heads, "heads of attention", {.min = 1});
  field("hidden", hidden, "features inside the feed-forward network", {.min = 1});
  field("encoder_layers", encoder_layers, "layers that read", {.min = 0});
  field("decoder_layers", decoder_layers, "layers that write", {.min = 1});
  field("activation", activation, "inside the feed-forward network");
  field("norm_first", norm_first, "norms in front of the parts (pre-norm), not behind their sums");
  field("final_norm", final_norm, "a norm behind each stack; none: if norm_first");
  field("dropout", dropout, "share of embeddings and of what is added to them set to 0 in training",
        {.min = 0, .max = 1});
  field("attention_dropout", attention_dropout, "of attention's weights; none: as dropout",
        {.min = 0, .max = 1});
  field("activation_dropout", activation_dropout,
        "inside the feed-forward network; none: as dropout", {.min = 0, .max = 1});
  field("tied", tied, "embeddings that are one: two (target, output), three (source too), none");
  field("encoder_attention", encoder_attention, "how the source attends to itself");
  field("decoder_attention", decoder_attention, "how the target attends to itself");
  field("cross_attention", cross_attention, "how the target attends to the source");
  field("positions", positions, "how positions are told apart");
}

void TransformerConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && embed % heads == 0,
             "[transformer] embed {} is not a multiple of heads {}", embed, heads);
  check_form("encoder_attention", encoder_attention, false);
  check_form("decoder_attention", decoder_attention, false);
  check_form("cross_attention", cross_attention, true);
  HEED_CHECK(find_mechanism(parse_attention(decoder_attention).name).traits.causal,
             "[transformer] decoder_attention \"{}\" cannot be kept from looking ahead: choose one "
             "that knows causal",
             decoder_attention);
  const bool known = source_vocabulary > 0 && target_vocabulary > 0;
  HEED_CHECK(tied != Tied::three || !known || source_vocabulary == target_vocabulary,
             "[transformer] tied = \"three\" with vocabularies of {} and {}: share one vocabulary, "
             "or use tied = \"two\"",
             source_vocabulary, target_vocabulary);
  for (const std::string& text : {encoder_attention, decoder_attention}) {
    with_positions(parse_attention(text), parse_positions(positions));
  }
}

Transformer::Transformer(const Config& config, Generator& generator)
    : source(embedding_of(checked(config), config.source_vocabulary), generator),
      target(embedding_of(config, config.target_vocabulary), generator),
      encoder(stack_of(config, config.encoder_layers, config.encoder_attention), generator),
      decoder(stack_of(config, config.decoder_layers, config.decoder_attention), generator),
      config_(config) {
  initialise(encoder, generator);
  initialise(decoder, generator);
  output = target.tokens.weight;  // [V, E]
  if (config.tied == Tied::three) source.tokens.weight = target.tokens.weight;
  if (config.tied == Tied::none) {
    output = empty({config.target_vocabulary, config.embed});  // [V, E]
    init::xavier_uniform(output, generator);
    output.requires_grad();
  }
}

void Transformer::visit(ParameterVisitor& visitor) {
  visitor("source", source);
  visitor("target", target);
  visitor("encoder", encoder);
  visitor("decoder", decoder);
  visitor("output.weight", output);
}

Memory Transformer::encode(const Tensor& ids, const Tensor& lengths,
                           std::vector<LayerWeights>* weights) const {
  return {encoder({.x = source(ids), .lengths = lengths}, weights), lengths};  // [B, S, E]
}

Tensor Transformer::decode(const Tensor& ids, const Memory& memory,
                           std::vector<LayerWeights>* weights) const {
  // What stands behind a row's end is never looked at, so the target needs no lengths.
  return decoder({.x = target(ids), .memory = memory.states, .memory_lengths = memory.lengths},
                 weights);
}

Tensor Transformer::scores(const Tensor& y) const { return linear(y, output); }

Transformer::Decoding Transformer::start(const Memory& memory) const {
  const NoGrad no_grad;
  return {
      .state = decoder.start(
          {.batch = memory.states.size(0), .memory = memory.states, .lengths = memory.lengths})};
}

Tensor Transformer::step(const Tensor& ids, Decoding& decoding) const {
  const NoGrad no_grad;
  const Tensor x = target(ids, decoding.next);  // [B, T, E]
  decoding.next += ids.size(1);
  return decoder.step(x, decoding.state);  // [B, T, E]
}

bool Transformer::can_step() const {
  const auto decodes = [](const std::string& text) {
    return find_mechanism(parse_attention(text).name).traits.decodes;
  };
  return decodes(config_.decoder_attention) && decodes(config_.cross_attention);
}

TransformerWeights Transformer::weights(const Tensor& ids, const Tensor& lengths,
                                        const Tensor& written) const {
  const NoGrad no_grad;
  TransformerWeights seen;
  decode(written, encode(ids, lengths, &seen.encoder), &seen.decoder);
  return seen;
}

}  // namespace heed
