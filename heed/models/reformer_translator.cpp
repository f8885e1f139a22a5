#include "heed/models/reformer_translator.h"

#include <algorithm>
#include <iterator>

#include "heed/base/error.h"
#include "heed/models/stack_decoding.h"

namespace heed {
namespace {

constexpr const char* kTranslatorName = "reformer_translator";

ReformerLayers encoder_layers_of(const ReformerTranslatorConfig& config) {
  return {.model = kTranslatorName, .key = "encoder_layers", .words = config.encoder_layers};
}

ReformerLayers decoder_layers_of(const ReformerTranslatorConfig& config) {
  return {.model = kTranslatorName,
          .key = "decoder_layers",
          .words = config.decoder_layers,
          .causal = true};
}

const ReformerTranslatorConfig& checked(const ReformerTranslatorConfig& config) {
  config.validate();
  HEED_CHECK(config.source_vocabulary > 0 && config.target_vocabulary > 0,
             "[{}] vocabularies of {} and {}: give the sizes of both", kTranslatorName,
             config.source_vocabulary, config.target_vocabulary);
  return config;
}

TextEmbeddingConfig embedding_of(const ReformerTranslatorConfig& config, std::int64_t vocabulary) {
  TextEmbeddingConfig embedding = config.block.embedding(vocabulary);
  embedding.padding = config.padding;
  return embedding;
}

OutputLayer output_of(const ReformerTranslatorConfig& config, const Weight& embeddings,
                      Generator& generator) {
  OutputLayer output = reformer_output(config.target_vocabulary, config.block.embed, generator);
  if (!has_own_output(config.tied)) output.weight = embeddings;
  output.weight.refined = true;  // rounding it loses most: docs/design/2026-11-quantisation.md
  return output;
}

}  // namespace

void ReformerTranslatorConfig::fields(io::Fields& field) {
  field("source_vocabulary", source_vocabulary,
        "tokens of the source; 0: the size of its vocabulary", {.min = 0});
  field("target_vocabulary", target_vocabulary,
        "tokens of the target; 0: the size of its vocabulary", {.min = 0});
  field("padding", padding, "the token that fills rows; none: as in the vocabulary");
  field("encoder_layers", encoder_layers,
        "the self-attention of each layer of the encoder in order: lsh, local or full");
  field("decoder_layers", decoder_layers, "the same for the decoder");
  block.fields(field);
  field("cross_attention", cross_attention, "attention of the decoder to the source");
  field("tied", tied, kTiedHelp);
}

ReversibleStackConfig ReformerTranslatorConfig::encoder_stack() const {
  ReversibleStackConfig stack = block.stack(encoder_layers_of(*this));
  stack.join = StreamJoin::mean;
  return stack;
}

ReversibleStackConfig ReformerTranslatorConfig::decoder_stack() const {
  ReversibleStackConfig stack = block.stack(decoder_layers_of(*this));
  stack.kind = LayerKind::decoder;
  stack.join = StreamJoin::mean;
  for (BlockConfig& layer : stack.blocks) layer.cross_attention = cross_attention;
  return stack;
}

std::vector<AttentionChoice> ReformerTranslatorConfig::attentions() const {
  std::vector<AttentionChoice> all = attentions_of(encoder_stack());
  std::ranges::copy(attentions_of(decoder_stack()), std::back_inserter(all));
  all.push_back(cross_attention);
  return all;
}

void ReformerTranslatorConfig::validate() const {
  block.validate(encoder_layers_of(*this));
  block.validate(decoder_layers_of(*this));
  check_attention(kTranslatorName, {.key = "cross_attention", .cross = true}, cross_attention);
  check_tied(kTranslatorName, tied, {source_vocabulary, target_vocabulary});
}

void ReformerTranslatorConfig::set_sizes(const ModelSizes& sizes) {
  source_vocabulary = sizes.source_vocabulary;
  target_vocabulary = sizes.target_vocabulary;
  if (!padding) padding = sizes.padding;
}

ReformerTranslator::ReformerTranslator(const Config& config, Generator& generator)
    : source(embedding_of(checked(config), config.source_vocabulary), generator),
      target(embedding_of(config, config.target_vocabulary), generator),
      encoder(config.encoder_stack(), generator),
      decoder(config.decoder_stack(), generator),
      output(output_of(config, target.tokens.weight, generator)),
      config_(config) {
  initialise_reformer(encoder, generator);
  initialise_reformer(decoder, generator);
  if (shares_embeddings(config.tied)) source.tokens.weight = target.tokens.weight;
}

ModelChoice ReformerTranslator::choice() const {
  return choice_of<ReformerTranslator>(kReformerTranslator, config_);
}

void ReformerTranslator::visit(ParameterVisitor& visitor) {
  visitor("source", source);
  visitor("target", target);
  visitor("encoder", encoder);
  visitor("decoder", decoder);
  visitor("output", output);
}

Memory ReformerTranslator::encode(const Tensor& ids, const Tensor& lengths,
                                  std::vector<LayerWeights>* weights) const {
  return {encoder({.x = source(ids), .lengths = lengths}, weights), lengths};  // [B, S, E]
}

// Padding of the target comes after the last token of a row, which causal attention never reads.
Tensor ReformerTranslator::decode(const Tensor& ids, const Memory& memory,
                                  std::vector<LayerWeights>* weights) const {
  return decoder(
      {.x = target(ids), .causal = true, .memory = memory.states, .memory_lengths = memory.lengths},
      weights);  // [B, T, E]
}

std::unique_ptr<Decoding> ReformerTranslator::start(const Memory& memory, Stepping stepping,
                                                    CacheForm cache) const {
  if (stepping == Stepping::replayed || (stepping == Stepping::automatic && !can_step())) {
    return decode_by_replay(*this, memory);
  }
  return decode_with_state(target, decoder,
                           {.batch = memory.states.size(0),
                            .memory = memory.states,
                            .lengths = memory.lengths,
                            .cache = cache});
}

bool ReformerTranslator::can_step() const {
  const auto decodes = [](const AttentionChoice& attention) { return attention.traits().decodes; };
  return decodes(config_.cross_attention) &&
         std::ranges::all_of(attentions_of(config_.decoder_stack()), decodes);
}

}  // namespace heed
