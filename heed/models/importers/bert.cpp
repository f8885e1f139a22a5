#include "heed/models/importers/bert.h"

#include "heed/models/importers/encoder.h"

namespace heed {
namespace {

constexpr TensorRule kBertRules[] = {
    {"tokens.tokens.weight", "bert.embeddings.word_embeddings.weight"},
    {"tokens.position.weight", "bert.embeddings.position_embeddings.weight"},
    {"tokens.types.weight", "bert.embeddings.token_type_embeddings.weight"},
    {"tokens.norm.{}", "bert.embeddings.LayerNorm.{}"},
    {"encoder.layers.{}.self_attn.q_proj_{}", "bert.encoder.layer.{}.attention.self.query.{}"},
    {"encoder.layers.{}.self_attn.k_proj_{}", "bert.encoder.layer.{}.attention.self.key.{}"},
    {"encoder.layers.{}.self_attn.v_proj_{}", "bert.encoder.layer.{}.attention.self.value.{}"},
    {"encoder.layers.{}.self_attn.out_proj.{}", "bert.encoder.layer.{}.attention.output.dense.{}"},
    {"encoder.layers.{}.norm1.{}", "bert.encoder.layer.{}.attention.output.LayerNorm.{}"},
    {"encoder.layers.{}.linear1.{}", "bert.encoder.layer.{}.intermediate.dense.{}"},
    {"encoder.layers.{}.linear2.{}", "bert.encoder.layer.{}.output.dense.{}"},
    {"encoder.layers.{}.norm2.{}", "bert.encoder.layer.{}.output.LayerNorm.{}"},
    kDenseRule,
    {"dense.{}", "bert.pooler.dense.{}"},
    {"scores.{}", "classifier.{}"},
    {"head.dense.{}", "cls.predictions.transform.dense.{}"},
    {"head.norm.{}", "cls.predictions.transform.LayerNorm.{}"},
    {"output.weight", "cls.predictions.decoder.weight"},
    {"output.bias", "cls.predictions.bias"},
};
// Heads that the model in use does not have.
constexpr std::string_view kBertUnused[] = {"embeddings.position_ids", "pooler.*", "cls.*",
                                            "classifier.*"};

}  // namespace

Import import_bert(const ForeignConfig& config, const io::TensorSource& tensors) {
  TextEncoderConfig encoder = import_bert_layers(config);
  const FeedForwardKind activation = encoder.block.activation;
  return import_encoder(
      config, tensors,
      {.encoder = std::move(encoder),
       .names = {.rules = kBertRules, .prefix = "bert.", .unused = kBertUnused},
       .masked_tensor = "cls.predictions.bias",
       .masked_head = kFeedForwardKinds[static_cast<std::size_t>(activation)].activation});
}

}  // namespace heed
