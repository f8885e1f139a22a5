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
  TextEncoderConfig encoder = import_bert_layers(config);
  encoder.block.positions =
      fmt::format("learned max_length={} offset={}", config.integer("max_position_embeddings"),
                  config.integer("pad_token_id", 1) + 1);
  return import_encoder(
      config, tensors,
      {.encoder = std::move(encoder),
       .names = {.rules = kRobertaRules, .prefix = "roberta.", .unused = kRobertaUnused},
       .masked_tensor = "lm_head.bias"});
}

}  // namespace heed
