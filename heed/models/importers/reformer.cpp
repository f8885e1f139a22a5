#include "heed/models/importers/reformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "heed/base/error.h"
#include "heed/models/reformer.h"

namespace heed {
namespace {

constexpr TensorRule kReformerRules[] = {
    {"tokens.tokens.weight", "reformer.embeddings.word_embeddings.weight"},
    {"tokens.position.rows", "reformer.embeddings.position_embeddings.weights.0",
     TensorForm::grid_rows},
    {"tokens.position.columns", "reformer.embeddings.position_embeddings.weights.1",
     TensorForm::grid_columns},
    {"tokens.position.weight", "reformer.embeddings.position_embeddings.embedding.weight"},
    {"decoder.layers.{}.norm1.{}", "reformer.encoder.layers.{}.attention.layer_norm.{}"},
    {"decoder.layers.{}.self_attn.qk_proj.weight",
     "reformer.encoder.layers.{}.attention.self_attention.query_key.weight"},
    {"decoder.layers.{}.self_attn.v_proj.weight",
     "reformer.encoder.layers.{}.attention.self_attention.value.weight"},
    {"decoder.layers.{}.self_attn.q_proj_weight",
     "reformer.encoder.layers.{}.attention.self_attention.query.weight"},
    {"decoder.layers.{}.self_attn.k_proj_weight",
     "reformer.encoder.layers.{}.attention.self_attention.key.weight"},
    {"decoder.layers.{}.self_attn.v_proj_weight",
     "reformer.encoder.layers.{}.attention.self_attention.value.weight"},
    {"decoder.layers.{}.self_attn.out_proj.weight",
     "reformer.encoder.layers.{}.attention.output.dense.weight"},
    {"decoder.layers.{}.norm2.{}", "reformer.encoder.layers.{}.feed_forward.layer_norm.{}"},
    {"decoder.layers.{}.linear1.{}", "reformer.encoder.layers.{}.feed_forward.dense.dense.{}"},
    {"decoder.layers.{}.linear2.{}", "reformer.encoder.layers.{}.feed_forward.output.dense.{}"},
    {"decoder.norm.{}", "reformer.encoder.layer_norm.{}"},
    {"output.weight", "lm_head.decoder.weight"},
    {"output.bias", "lm_head.bias"},
    {"output.bias", "lm_head.decoder.bias"},
};
// Numbers that take the place of hidden scores.
constexpr std::string_view kReformerUnused[] = {
    "encoder.layers.*.attention.self_attention.*mask_value_float*", "lm_head.decoder.bias",
    "lm_head.bias"};

struct HashSizes {
  std::int64_t buckets, factor;
};

// Buckets of one hash or of a pair. If the config leaves them open, as many as transformers takes
// for the longest text.
HashSizes hash_sizes(const ForeignConfig& config, std::int64_t chunk, std::int64_t longest) {
  const std::vector<std::int64_t> given = config.integers("num_buckets");
  HEED_CHECK(given.size() <= 2,
             "[import] {}: \"num_buckets\" has {} factors: heed reads one or two", config.source(),
             given.size());
  if (given.size() == 2) return {given[0], given[1]};
  if (given.size() == 1) return {given[0], 1};
  const auto twice = static_cast<std::uint64_t>(2 * std::max<std::int64_t>(1, longest / chunk));
  const int power = std::bit_width(twice) - 1;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(longest / chunk)));
  const std::int64_t buckets = std::int64_t{1} << power;
  if (buckets <= 2 * std::max(root, chunk)) return {buckets, 1};
  return {std::int64_t{1} << (power / 2), std::int64_t{1} << (power - power / 2)};
}

std::string positions_of(const ForeignConfig& config, std::int64_t embed) {
  if (!config.boolean("axial_pos_embds", true)) {
    return fmt::format("learned max_length={}", config.integer("max_position_embeddings"));
  }
  const std::vector<std::int64_t> shape = config.integers("axial_pos_shape");
  const std::vector<std::int64_t> features = config.integers("axial_pos_embds_dim");
  HEED_CHECK(shape.size() == 2 && features.size() == 2 && features[0] + features[1] == embed,
             "[import] {}: \"axial_pos_shape\" and \"axial_pos_embds_dim\" must have two numbers "
             "each, the latter with the sum {}",
             config.source(), embed);
  return fmt::format("axial max_length={} rows={} row_features={}", shape[0] * shape[1], shape[0],
                     features[0]);
}

}  // namespace

Import import_reformer(const ForeignConfig& config, const io::TensorSource&) {
  config.expect("is_decoder", true);
  config.expect("tie_word_embeddings", false);
  for (const char* const key : {"lsh_num_chunks_after", "local_num_chunks_after"}) {
    HEED_CHECK(config.integer(key, 0) == 0, "[import] {}: \"{}\" is {}: heed reads 0",
               config.source(), key, config.integer(key, 0));
  }
  HEED_CHECK(config.integer("lsh_num_chunks_before", 1) == 1,
             "[import] {}: \"lsh_num_chunks_before\" is {}: heed reads 1", config.source(),
             config.integer("lsh_num_chunks_before", 1));
  const std::int64_t embed = config.integer("hidden_size");
  const std::int64_t chunk = config.integer("lsh_attn_chunk_length", 64);
  const HashSizes hash = hash_sizes(config, chunk, config.integer("max_position_embeddings"));
  ReformerConfig model{
      .vocabulary = config.integer("vocab_size"),
      .layers = fmt::format("{}", fmt::join(config.texts("attn_layers"), " ")),
      .block = ReformerBlock{
          .embed = embed,
          .heads = config.integer("num_attention_heads"),
          .head_size = config.integer("attention_head_size"),
          .hidden = config.integer("feed_forward_size"),
          .activation = import_activation(config, "hidden_act", "relu"),
          .bias = true,
          .norm_eps = config.number("layer_norm_eps", 1e-12),
          .dropout = config.number("hidden_dropout_prob", 0.05),
          .lsh = fmt::format(
              "lsh buckets={} factor={} chunk={} rounds={} reach=mixed redraw=true bias=false "
              "dropout={}",
              hash.buckets, hash.factor, chunk, config.integer("num_hashes", 1),
              config.number("lsh_attention_probs_dropout_prob", 0.0)),
          .local = fmt::format(
              "block_sparse block={} local={} every=0 joint=false bias=false dropout={}",
              config.integer("local_attn_chunk_length", 64),
              config.integer("local_num_chunks_before", 1),
              config.number("local_attention_probs_dropout_prob", 0.05)),
          .positions = positions_of(config, embed)}};
  return {.model = import_choice<Reformer>(kReformer, std::move(model)),
          .names = {.rules = kReformerRules, .prefix = "reformer.", .unused = kReformerUnused}};
}

}  // namespace heed
