#include "heed/models/transformer.h"

#include "heed/attention/tracked_weights.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/base/error.h"
#include "heed/models/copy_decoding.h"
#include "heed/models/stack_decoding.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/scan.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TextEmbeddingConfig embedding_of(const TransformerConfig& config, const BlockConfig& block,
                                 std::int64_t vocabulary) {
  TextEmbeddingConfig embedding{.vocabulary = vocabulary,
                                .embed = block.embed,
                                .padding = config.padding,
                                .scaled = config.scaled_embeddings,
                                .dropout = block.dropout,
                                .position = block.positions.config()};
  if (config.embedding_norm) embedding.norm = block.norm_config();
  return embedding;
}

// As in fairseq: Glorot's uniform values for matrices, 0 for biases. Post-norm stacks do not start
// to learn at their usual rates from larger values.
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

OutputLayer output_of(const TransformerConfig& config, const Weight& embeddings,
                      Generator& generator) {
  const Tensor bias =
      config.output_bias ? zeros({config.target_vocabulary}).requires_grad() : Tensor();  // [V]
  Weight weight = embeddings;
  if (has_own_output(config.tied)) {
    weight = Weight(empty({config.target_vocabulary, config.block.embed}));  // [V, E]
    init::xavier_uniform(weight.data, generator);
    weight.data.requires_grad();
  }
  weight.refined = true;  // rounding it loses most: docs/design/2026-11-quantisation.md
  return OutputLayer(std::move(weight), bias);
}

}  // namespace

void TransformerConfig::fields(io::Fields& field) {
  field("source_vocabulary", source_vocabulary,
        "tokens of the source; 0: the size of its vocabulary", {.min = 0});
  field("target_vocabulary", target_vocabulary,
        "tokens of the target; 0: the size of its vocabulary", {.min = 0});
  field("padding", padding, "the token that fills rows; none: as in the vocabulary");
  field("encoder_layers", encoder_layers, "layers of the encoder", {.min = 0, .max = kMaxLayers});
  field("decoder_layers", decoder_layers, "layers of the decoder", {.min = 1, .max = kMaxLayers});
  block.fields(field);
  field("decoder_heads", decoder_heads, "heads of attention of the decoder; none: heads",
        {.min = 1, .max = kMaxFeatures});
  field("decoder_hidden", decoder_hidden,
        "features inside the feed-forward network of the decoder; none: hidden",
        {.min = 1, .max = kMaxFeatures});
  field("encoder_attention", encoder_attention, "self-attention of the encoder; none: attention");
  field("decoder_attention", decoder_attention, "self-attention of the decoder; none: attention");
  field("decoder_positions", decoder_positions, "position code of the decoder; none: positions");
  field("cross_attention", block.cross_attention, "attention of the decoder to the source");
  field("tied", tied, kTiedHelp);
  field("scaled_embeddings", scaled_embeddings,
        "whether embeddings are multiplied by the square root of embed");
  field("embedding_norm", embedding_norm, "a norm of embeddings with their positions");
  field("output_bias", output_bias, "whether the scores of the output have a bias");
  field("copy", copy,
        "whether words of the source are copied, by the last decoder layer's attention to it");
  field("copy_head", copy_head, "the head whose weights copy, from 1; none: the mean of all",
        {.min = 1, .max = kMaxFeatures});
  field("coverage", coverage,
        "weight of the coverage loss of a model that copies: attending to a position again",
        {.min = 0});
}

BlockConfig TransformerConfig::encoder_block() const {
  BlockConfig encoder = block;
  if (encoder_attention) encoder.attention = *encoder_attention;
  return encoder;
}

BlockConfig TransformerConfig::decoder_block() const {
  BlockConfig decoder = block;
  if (decoder_heads) decoder.heads = *decoder_heads;
  if (decoder_hidden) decoder.hidden = *decoder_hidden;
  if (decoder_attention) decoder.attention = *decoder_attention;
  if (decoder_positions) decoder.positions = *decoder_positions;
  return decoder;
}

std::vector<AttentionChoice> TransformerConfig::attentions() const {
  return {encoder_block().attention, decoder_block().attention, block.cross_attention};
}

void TransformerConfig::validate() const {
  encoder_block().validate();
  decoder_block().validate();
  const std::vector<AttentionChoice> all = attentions();
  check_attention("transformer", {.key = "encoder_attention"}, all[0]);
  check_attention("transformer", {.key = "decoder_attention", .causal = true}, all[1]);
  check_attention("transformer", {.key = "cross_attention", .cross = true}, all[2]);
  check_used("transformer", block, TransformerConfig{}.block, all);
  check_tied("transformer", tied, {source_vocabulary, target_vocabulary});
  check_copying();
  encoder_block().self_attention_of_layer();
  decoder_block().self_attention_of_layer();
}

void TransformerConfig::check_copying() const {
  HEED_CHECK(
      copy || (!copy_head && coverage == 0.0),
      "[transformer] {} belongs to models that copy words of the source: set copy = true, or "
      "leave it out",
      copy_head ? "copy_head" : "coverage");
  if (!copy) return;
  HEED_CHECK(block.cross_attention.mechanism().name == kMultiHead.name,
             "[transformer] copy = true with cross_attention = \"{}\": its weights have no "
             "gradient; use \"{}\"",
             block.cross_attention.text(), kMultiHead.name);
  const std::int64_t heads = decoder_block().heads;
  HEED_CHECK(!copy_head || (*copy_head >= 1 && *copy_head <= heads),
             "[transformer] copy_head = {}: the decoder has heads 1 to {}", copy_head.value_or(0),
             heads);
  HEED_CHECK(coverage >= 0.0, "[transformer] coverage = {}: it must not be negative", coverage);
}

void TransformerConfig::set_sizes(const ModelSizes& sizes) {
  source_vocabulary = sizes.source_vocabulary;
  target_vocabulary = sizes.target_vocabulary;
  if (!padding) padding = sizes.padding;
}

Transformer::Transformer(const Config& config, Generator& generator)
    : source(embedding_of(checked(config), config.encoder_block(), config.source_vocabulary),
             generator),
      target(embedding_of(config, config.decoder_block(), config.target_vocabulary), generator),
      encoder({.layers = config.encoder_layers, .block = config.encoder_block()}, generator),
      decoder({.layers = config.decoder_layers,
               .block = config.decoder_block(),
               .kind = LayerKind::decoder},
              generator),
      output(target.tokens.weight),
      config_(config) {
  initialise(encoder, generator);
  initialise(decoder, generator);
  output = output_of(config, target.tokens.weight, generator);
  if (shares_embeddings(config.tied)) source.tokens.weight = target.tokens.weight;
  if (config.copy) {
    const std::int64_t size = config.block.embed;
    copy_gate.emplace(CopyGateSizes{.context = size, .state = size, .input = size}, generator);
  }
}

ModelChoice Transformer::choice() const { return choice_of<Transformer>(kTransformer, config_); }

void Transformer::visit(ParameterVisitor& visitor) {
  visitor("source", source);
  visitor("target", target);
  visitor("encoder", encoder);
  visitor("decoder", decoder);
  visitor("output", output);
  visitor("copy_gate", copy_gate);
}

Memory Transformer::encode(const Tensor& ids, const Tensor& lengths,
                           std::vector<LayerWeights>* weights) const {
  return {encoder({.x = source(ids), .lengths = lengths}, weights), lengths};  // [B, S, E]
}

Tensor Transformer::decode(const Tensor& ids, const Memory& memory,
                           std::vector<LayerWeights>* weights) const {
  // Padding comes after the last token of a row, which causal attention never reads, so the target
  // needs no lengths.
  return decoder(
      {.x = target(ids), .causal = true, .memory = memory.states, .memory_lengths = memory.lengths},
      weights);
}

// The context enters the gate alone, and sum_j a_j (w^T h_j) is w^T (sum_j a_j h_j).
Tensor Transformer::decode_copying(const Tensor& ids, const Memory& memory,
                                   CopySteps& copied) const {
  HEED_ASSERT(copies());
  HEED_CHECK(!decoder.checkpoints_activations || !training(),
             "[transformer] copy = true with checkpointed activations: the weights that copy words "
             "are kept; train without activation checkpointing");
  const TrackedWeights tracked(*decoder.layers.back().multihead_attn);
  const Tensor y = decode(ids, memory);                                       // [B, T, E]
  const Tensor weights = copy_weights(tracked.weights, config_.copy_head);    // [B, T, S]
  const Tensor context = matmul(weights, copy_gate->context(memory.states));  // [B, T, 1]
  copied = {
      .gate = squeeze(context + copy_gate->state(y) + copy_gate->input(target.tokens(ids)), -1),
      .weights = weights,
      .coverage = cumsum(weights, 1) - weights};
  return y;
}

std::unique_ptr<Decoding> Transformer::start(const Memory& memory, Stepping stepping,
                                             CacheForm cache) const {
  if (stepping == Stepping::replayed || (stepping == Stepping::automatic && !can_step())) {
    return decode_by_replay(*this, memory);
  }
  auto decoding = decode_with_state(target, decoder,
                                    {.batch = memory.states.size(0),
                                     .memory = memory.states,
                                     .lengths = memory.lengths,
                                     .cache = cache});
  if (!copies()) return decoding;
  return decode_copying_steps({*copy_gate, target.tokens, config_.copy_head}, memory,
                              std::move(decoding));
}

bool Transformer::can_step() const {
  return config_.decoder_block().attention.traits().decodes &&
         config_.block.cross_attention.traits().decodes;
}

}  // namespace heed
