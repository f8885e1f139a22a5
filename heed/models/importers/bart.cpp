#include "heed/models/importers/bart.h"

#include <fmt/format.h>

#include "heed/models/transformer.h"

namespace heed {
namespace {

// Tied embeddings are in a file under one or several of their names.
constexpr TensorRule kBartRules[] = {
    {"source.tokens.weight", "model.shared.weight"},
    {"source.tokens.weight", "model.encoder.embed_tokens.weight"},
    {"source.position.weight", "model.encoder.embed_positions.weight"},
    {"source.norm.{}", "model.encoder.layernorm_embedding.{}"},
    {"target.tokens.weight", "model.shared.weight"},
    {"target.tokens.weight", "model.decoder.embed_tokens.weight"},
    {"target.position.weight", "model.decoder.embed_positions.weight"},
    {"target.norm.{}", "model.decoder.layernorm_embedding.{}"},

    {"encoder.layers.{}.self_attn.q_proj_{}", "model.encoder.layers.{}.self_attn.q_proj.{}"},
    {"encoder.layers.{}.self_attn.k_proj_{}", "model.encoder.layers.{}.self_attn.k_proj.{}"},
    {"encoder.layers.{}.self_attn.v_proj_{}", "model.encoder.layers.{}.self_attn.v_proj.{}"},
    {"encoder.layers.{}.self_attn.out_proj.{}", "model.encoder.layers.{}.self_attn.out_proj.{}"},
    {"encoder.layers.{}.norm1.{}", "model.encoder.layers.{}.self_attn_layer_norm.{}"},
    {"encoder.layers.{}.linear1.{}", "model.encoder.layers.{}.fc1.{}"},
    {"encoder.layers.{}.linear2.{}", "model.encoder.layers.{}.fc2.{}"},
    {"encoder.layers.{}.norm2.{}", "model.encoder.layers.{}.final_layer_norm.{}"},
    {"encoder.norm.{}", "model.encoder.layer_norm.{}"},

    {"decoder.layers.{}.self_attn.q_proj_{}", "model.decoder.layers.{}.self_attn.q_proj.{}"},
    {"decoder.layers.{}.self_attn.k_proj_{}", "model.decoder.layers.{}.self_attn.k_proj.{}"},
    {"decoder.layers.{}.self_attn.v_proj_{}", "model.decoder.layers.{}.self_attn.v_proj.{}"},
    {"decoder.layers.{}.self_attn.out_proj.{}", "model.decoder.layers.{}.self_attn.out_proj.{}"},
    {"decoder.layers.{}.norm1.{}", "model.decoder.layers.{}.self_attn_layer_norm.{}"},
    {"decoder.layers.{}.multihead_attn.q_proj_{}",
     "model.decoder.layers.{}.encoder_attn.q_proj.{}"},
    {"decoder.layers.{}.multihead_attn.k_proj_{}",
     "model.decoder.layers.{}.encoder_attn.k_proj.{}"},
    {"decoder.layers.{}.multihead_attn.v_proj_{}",
     "model.decoder.layers.{}.encoder_attn.v_proj.{}"},
    {"decoder.layers.{}.multihead_attn.out_proj.{}",
     "model.decoder.layers.{}.encoder_attn.out_proj.{}"},
    {"decoder.layers.{}.norm2.{}", "model.decoder.layers.{}.encoder_attn_layer_norm.{}"},
    {"decoder.layers.{}.linear1.{}", "model.decoder.layers.{}.fc1.{}"},
    {"decoder.layers.{}.linear2.{}", "model.decoder.layers.{}.fc2.{}"},
    {"decoder.layers.{}.norm3.{}", "model.decoder.layers.{}.final_layer_norm.{}"},
    {"decoder.norm.{}", "model.decoder.layer_norm.{}"},

    {"output.weight", "lm_head.weight"},
    {"output.bias", "final_logits_bias", TensorForm::row},
};
// Sinusoids are computed. Old files have the number of their version.
constexpr std::string_view kBartUnused[] = {"*coder.embed_positions.weight*", "*coder.version"};

constexpr std::int64_t kPositionOffset = 2;  // of fairseq: the numbers of padding and unknown

Tied tied_of(const ForeignConfig& config) {
  const bool output = config.boolean("tie_word_embeddings", true);
  if (config.boolean("share_encoder_decoder_embeddings", true)) {
    return output ? Tied::three : Tied::embeddings;
  }
  return output ? Tied::two : Tied::none;
}

std::string learned_positions(const ForeignConfig& config) {
  return fmt::format("learned offset={} max_length={}", kPositionOffset,
                     config.integer("max_position_embeddings") + kPositionOffset);
}

}  // namespace

Import import_bart_family(const ForeignConfig& config, const io::TensorSource& tensors,
                          const BartFamily& family) {
  expect_translator(config);
  const std::int64_t vocabulary = config.integer("vocab_size");
  const Tied tied = tied_of(config);
  // Three matrices as in the file, so that they can be used in place.
  constexpr const char* kSeparate = "multi_head joint=false";
  TransformerConfig model{
      .source_vocabulary = vocabulary,
      .target_vocabulary =
          shares_embeddings(tied) ? vocabulary : config.integer("decoder_vocab_size", vocabulary),
      .encoder_layers = config.integer("encoder_layers"),
      .decoder_layers = config.integer("decoder_layers"),
      .block = BlockConfig{.embed = config.integer("d_model"),
                           .heads = config.integer("encoder_attention_heads"),
                           .hidden = config.integer("encoder_ffn_dim"),
                           .norm = {.first = family.norm_first},
                           .activation =
                               import_activation(config, "activation_function", family.activation),
                           .dropout = config.number("dropout", 0.1),
                           .attention_dropout = config.number("attention_dropout", 0.0),
                           .activation_dropout = config.number("activation_dropout", 0.0),
                           .attention = kSeparate,
                           .cross_attention = kSeparate,
                           .positions = family.positions},
      .decoder_heads = config.integer("decoder_attention_heads"),
      .decoder_hidden = config.integer("decoder_ffn_dim"),
      .tied = tied,
      .scaled_embeddings = config.boolean("scale_embedding", family.scaled_embeddings),
      .embedding_norm = family.embedding_norm,
      .output_bias = tensors.contains("final_logits_bias")};
  return {.model = import_choice<Transformer>(kTransformer, std::move(model)),
          .names = {.rules = kBartRules, .prefix = "model.", .unused = kBartUnused}};
}

Import import_bart(const ForeignConfig& config, const io::TensorSource& tensors) {
  return import_bart_family(config, tensors,
                            {.positions = learned_positions(config), .embedding_norm = true});
}

Import import_mbart(const ForeignConfig& config, const io::TensorSource& tensors) {
  return import_bart_family(
      config, tensors,
      {.positions = learned_positions(config), .norm_first = true, .embedding_norm = true});
}

Import import_m2m_100(const ForeignConfig& config, const io::TensorSource& tensors) {
  return import_bart_family(
      config, tensors,
      {.positions = fmt::format("sinusoidal halves=true inclusive=true offset={} max_length={}",
                                kPositionOffset, config.integer("max_position_embeddings")),
       .norm_first = true,
       .activation = "relu",
       .scaled_embeddings = true});
}

}  // namespace heed
