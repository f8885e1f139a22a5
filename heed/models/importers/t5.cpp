#include "heed/models/importers/t5.h"

#include <fmt/format.h>

#include "heed/models/transformer.h"

namespace heed {
namespace {

// The first rule is for models that multiply the states before the output by d_model^-0.5: the last
// norm does it.
constexpr TensorRule kT5Rules[] = {
    {"decoder.norm.weight", "decoder.final_layer_norm.weight", TensorForm::times_root},

    {"source.tokens.weight", "shared.weight"},
    {"source.tokens.weight", "encoder.embed_tokens.weight"},
    {"target.tokens.weight", "shared.weight"},
    {"target.tokens.weight", "decoder.embed_tokens.weight"},

    {"encoder.layers.{}.norm1.weight", "encoder.block.{}.layer.0.layer_norm.weight"},
    {"encoder.layers.{}.self_attn.q_proj_weight",
     "encoder.block.{}.layer.0.SelfAttention.q.weight"},
    {"encoder.layers.{}.self_attn.k_proj_weight",
     "encoder.block.{}.layer.0.SelfAttention.k.weight"},
    {"encoder.layers.{}.self_attn.v_proj_weight",
     "encoder.block.{}.layer.0.SelfAttention.v.weight"},
    {"encoder.layers.{}.self_attn.out_proj.weight",
     "encoder.block.{}.layer.0.SelfAttention.o.weight"},
    {"encoder.layers.{}.self_attn.position.weight",
     "encoder.block.{}.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"encoder.layers.{}.norm2.weight", "encoder.block.{}.layer.1.layer_norm.weight"},
    {"encoder.layers.{}.linear1.weight", "encoder.block.{}.layer.1.DenseReluDense.wi.weight"},
    {"encoder.layers.{}.linear2.weight", "encoder.block.{}.layer.1.DenseReluDense.wo.weight"},
    {"encoder.layers.{}.gate_proj.weight", "encoder.block.{}.layer.1.DenseReluDense.wi_0.weight"},
    {"encoder.layers.{}.up_proj.weight", "encoder.block.{}.layer.1.DenseReluDense.wi_1.weight"},
    {"encoder.layers.{}.down_proj.weight", "encoder.block.{}.layer.1.DenseReluDense.wo.weight"},
    {"encoder.norm.weight", "encoder.final_layer_norm.weight"},

    {"decoder.layers.{}.norm1.weight", "decoder.block.{}.layer.0.layer_norm.weight"},
    {"decoder.layers.{}.self_attn.q_proj_weight",
     "decoder.block.{}.layer.0.SelfAttention.q.weight"},
    {"decoder.layers.{}.self_attn.k_proj_weight",
     "decoder.block.{}.layer.0.SelfAttention.k.weight"},
    {"decoder.layers.{}.self_attn.v_proj_weight",
     "decoder.block.{}.layer.0.SelfAttention.v.weight"},
    {"decoder.layers.{}.self_attn.out_proj.weight",
     "decoder.block.{}.layer.0.SelfAttention.o.weight"},
    {"decoder.layers.{}.self_attn.position.weight",
     "decoder.block.{}.layer.0.SelfAttention.relative_attention_bias.weight"},
    {"decoder.layers.{}.norm2.weight", "decoder.block.{}.layer.1.layer_norm.weight"},
    {"decoder.layers.{}.multihead_attn.q_proj_weight",
     "decoder.block.{}.layer.1.EncDecAttention.q.weight"},
    {"decoder.layers.{}.multihead_attn.k_proj_weight",
     "decoder.block.{}.layer.1.EncDecAttention.k.weight"},
    {"decoder.layers.{}.multihead_attn.v_proj_weight",
     "decoder.block.{}.layer.1.EncDecAttention.v.weight"},
    {"decoder.layers.{}.multihead_attn.out_proj.weight",
     "decoder.block.{}.layer.1.EncDecAttention.o.weight"},
    {"decoder.layers.{}.norm3.weight", "decoder.block.{}.layer.2.layer_norm.weight"},
    {"decoder.layers.{}.linear1.weight", "decoder.block.{}.layer.2.DenseReluDense.wi.weight"},
    {"decoder.layers.{}.linear2.weight", "decoder.block.{}.layer.2.DenseReluDense.wo.weight"},
    {"decoder.layers.{}.gate_proj.weight", "decoder.block.{}.layer.2.DenseReluDense.wi_0.weight"},
    {"decoder.layers.{}.up_proj.weight", "decoder.block.{}.layer.2.DenseReluDense.wi_1.weight"},
    {"decoder.layers.{}.down_proj.weight", "decoder.block.{}.layer.2.DenseReluDense.wo.weight"},
    {"decoder.norm.weight", "decoder.final_layer_norm.weight"},

    {"output.weight", "lm_head.weight"},
};
constexpr std::span<const TensorRule> kUnscaledT5Rules = std::span(kT5Rules).subspan(1);
// The published T5 has a table of positions of the attention to the source, which was never used.
constexpr std::string_view kT5Unused[] = {
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};

// "relu", or "gated-gelu", which means GELU by tanh.
FeedForwardKind activation_of(const ForeignConfig& config, std::string_view otherwise) {
  constexpr std::string_view kGated = "gated-";
  const std::string name = config.text("feed_forward_proj", otherwise);
  if (name == "gated-gelu") return FeedForwardKind::geglu_tanh;
  const bool gated = name.starts_with(kGated);
  return find_activation(gated ? name.substr(kGated.size()) : name, config.source(), gated);
}

// An output matrix of its own is in the file, unless PyTorch has stored the shared one twice.
bool stores_output(const io::TensorSource& tensors) {
  const io::TensorEntry* const output = tensors.lookup("lm_head.weight");
  return output != nullptr && tensors.tied_to(*output) == nullptr;
}

Import import_stacks(const ForeignConfig& config, const io::TensorSource& tensors, bool is_scaled,
                     std::string_view activation) {
  expect_translator(config);
  const std::int64_t layers = config.integer({"num_layers", "num_hidden_layers"});
  const std::string positions = fmt::format("t5 buckets={} max_distance={}",
                                            config.integer("relative_attention_num_buckets", 32),
                                            config.integer("relative_attention_max_distance", 128));
  constexpr const char* kAttention = "multi_head joint=false scale=1";
  TransformerConfig model{
      .source_vocabulary = config.integer("vocab_size"),
      .target_vocabulary = config.integer("vocab_size"),
      .encoder_layers = layers,
      .decoder_layers = config.integer("num_decoder_layers", layers),
      .block = BlockConfig{.embed = config.integer({"d_model", "hidden_size"}),
                           .heads = config.integer({"num_heads", "num_attention_heads"}),
                           .head_size = config.integer({"d_kv", "head_dim"}),
                           .hidden = config.integer("d_ff"),
                           .norm = {.kind = NormKind::rms,
                                    .first = true,
                                    .eps = config.number("layer_norm_epsilon", 1e-6)},
                           .activation = activation_of(config, activation),
                           .bias = false,
                           .dropout = config.number("dropout_rate", 0.1),
                           .attention = kAttention,
                           .cross_attention = kAttention,
                           .positions = positions + " bidirectional=true",
                           .shared_positions = true},
      .decoder_positions = PositionChoice(positions + " bidirectional=false"),
      .tied = !is_scaled && stores_output(tensors) ? Tied::embeddings : Tied::three,
      .scaled_embeddings = false};
  return {
      .model = import_choice<Transformer>(kTransformer, std::move(model)),
      .names = {.rules = is_scaled ? std::span(kT5Rules) : kUnscaledT5Rules, .unused = kT5Unused}};
}

}  // namespace

Import import_t5(const ForeignConfig& config, const io::TensorSource& tensors) {
  // Version 4 of transformers scales the states if the output is tied; version 5 has a key.
  const bool is_scaled =
      config.boolean("scale_decoder_outputs", config.boolean("tie_word_embeddings", true));
  return import_stacks(config, tensors, is_scaled, "relu");
}

Import import_mt5(const ForeignConfig& config, const io::TensorSource& tensors) {
  return import_stacks(config, tensors, false, "gated-gelu");
}

}  // namespace heed
