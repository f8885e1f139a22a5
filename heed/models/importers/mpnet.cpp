#include "heed/models/importers/mpnet.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/models/importers/encoder.h"

namespace heed {
namespace {

constexpr TensorRule kMpnetRules[] = {
    {"tokens.tokens.weight", "mpnet.embeddings.word_embeddings.weight"},
    {"tokens.position.weight", "mpnet.embeddings.position_embeddings.weight"},
    {"tokens.norm.{}", "mpnet.embeddings.LayerNorm.{}"},
    // The other layers share the parameter of the first one.
    {"encoder.layers.0.self_attn.position.weight", "mpnet.encoder.relative_attention_bias.weight"},
    {"encoder.layers.{}.self_attn.q_proj_{}", "mpnet.encoder.layer.{}.attention.attn.q.{}"},
    {"encoder.layers.{}.self_attn.k_proj_{}", "mpnet.encoder.layer.{}.attention.attn.k.{}"},
    {"encoder.layers.{}.self_attn.v_proj_{}", "mpnet.encoder.layer.{}.attention.attn.v.{}"},
    {"encoder.layers.{}.self_attn.out_proj.{}", "mpnet.encoder.layer.{}.attention.attn.o.{}"},
    {"encoder.layers.{}.norm1.{}", "mpnet.encoder.layer.{}.attention.LayerNorm.{}"},
    {"encoder.layers.{}.linear1.{}", "mpnet.encoder.layer.{}.intermediate.dense.{}"},
    {"encoder.layers.{}.linear2.{}", "mpnet.encoder.layer.{}.output.dense.{}"},
    {"encoder.layers.{}.norm2.{}", "mpnet.encoder.layer.{}.output.LayerNorm.{}"},
    kDenseRule,
    {"dense.{}", "classifier.dense.{}"},
    {"scores.{}", "classifier.out_proj.{}"},
    {"head.dense.{}", "lm_head.dense.{}"},
    {"head.norm.{}", "lm_head.layer_norm.{}"},
    {"output.weight", "lm_head.decoder.weight"},
    {"output.bias", "lm_head.bias"},
};
// Heads that the model in use does not have.
constexpr std::string_view kMpnetUnused[] = {"embeddings.position_ids", "pooler.*", "lm_head.*",
                                             "classifier.*"};

// Whatever the config says about the padding token and the buckets, transformers computes with
// these.
constexpr std::int64_t kFirstPosition = 2, kBuckets = 32, kMaxDistance = 128;

}  // namespace

Import import_mpnet(const ForeignConfig& config, const io::TensorSource& tensors) {
  const std::int64_t buckets = config.integer("relative_attention_num_buckets", kBuckets);
  HEED_CHECK(buckets == kBuckets,
             "[import] {}: \"relative_attention_num_buckets\" is {}: this architecture computes "
             "with {}",
             config.source(), buckets, kBuckets);
  TextEncoderConfig encoder = import_bert_layers(config);
  encoder.types = 0;
  encoder.block.attention =
      fmt::format("{} position.name=t5 position.buckets={} position.max_distance={}",
                  kEncoderAttention, kBuckets, kMaxDistance);
  encoder.block.positions = fmt::format("learned max_length={} offset={}",
                                        config.integer("max_position_embeddings"), kFirstPosition);
  encoder.block.shared_positions = true;
  return import_encoder(
      config, tensors,
      {.encoder = std::move(encoder),
       .names = {.rules = kMpnetRules, .prefix = "mpnet.", .unused = kMpnetUnused},
       .masked_tensor = "lm_head.bias"});
}

}  // namespace heed
