#include "heed/models/importers/roberta.h"

#include <fmt/format.h>

#include "heed/models/importers/encoder.h"

namespace heed {
namespace {

constexpr TensorRule kRobertaRules[] = {
    {"tokens.tokens.weight", "roberta.embeddings.word_embeddings.weight"},
    {"tokens.position.weight", "roberta.embeddings.position_embeddings.weight"},
    {"tokens.types.weight", "roberta.embeddings.token_type_embeddings.weight"},
    {"tokens.norm.{}", "roberta.embeddings.LayerNorm.{}"},
    {"encoder.layers.{}.self_attn.q_proj_{}", "roberta.encoder.layer.{}.attention.self.query.{}"},
    {"encoder.layers.{}.self_attn.k_proj_{}", "roberta.encoder.layer.{}.attention.self.key.{}"},
    {"encoder.layers.{}.self_attn.v_proj_{}", "roberta.encoder.layer.{}.attention.self.value.{}"},
    {"encoder.layers.{}.self_attn.out_proj.{}",
     "roberta.encoder.layer.{}.attention.output.dense.{}"},
    {"encoder.layers.{}.norm1.{}", "roberta.encoder.layer.{}.attention.output.LayerNorm.{}"},
    {"encoder.layers.{}.linear1.{}", "roberta.encoder.layer.{}.intermediate.dense.{}"},
    {"encoder.layers.{}.linear2.{}", "roberta.encoder.layer.{}.output.dense.{}"},
    {"encoder.layers.{}.norm2.{}", "roberta.encoder.layer.{}.output.LayerNorm.{}"},
    kDenseRule,
    {"dense.{}", "classifier.dense.{}"},
    {"scores.{}", "classifier.out_proj.{}"},
    {"head.dense.{}", "lm_head.dense.{}"},
    {"head.norm.{}", "lm_head.layer_norm.{}"},
    {"output.weight", "lm_head.decoder.weight"},
    {"output.bias", "lm_head.bias"},
};
// Heads that the model in use does not have.
constexpr std::string_view kRobertaUnused[] = {"embeddings.position_ids", "pooler.*", "lm_head.*",
                                               "classifier.*"};

}  // namespace

Import import_roberta(const ForeignConfig& config, const io::TensorSource& tensors) {
  TextEncoderConfig encoder{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer("num_hidden_layers"),
      .block = {.embed = config.integer("hidden_size"),
                .heads = config.integer("num_attention_heads"),
                .hidden = config.integer("intermediate_size"),
                .norm = {.eps = config.number("layer_norm_eps", 1e-12)},
                .activation = import_activation(config, "hidden_act", "gelu"),
                .dropout = config.number("hidden_dropout_prob", 0.1),
                .attention_dropout = config.number("attention_probs_dropout_prob", 0.1),
                .activation_dropout = 0.0,
                .attention = kEncoderAttention,
                .positions = fmt::format("learned max_length={} offset={}",
                                         config.integer("max_position_embeddings"),
                                         config.integer("pad_token_id", 1) + 1)},
      .types = config.integer("type_vocab_size", 2),
      .scaled_embeddings = false,
      .embedding_norm = true};
  return import_encoder(
      config, tensors,
      {.encoder = std::move(encoder),
       .names = {.rules = kRobertaRules, .prefix = "roberta.", .unused = kRobertaUnused},
       .masked_tensor = "lm_head.bias"});
}

}  // namespace heed
