#include "heed/models/text_encoder.h"

#include "heed/base/error.h"

namespace heed {
namespace {

TextEmbeddingConfig embedding_of(const TextEncoderConfig& config) {
  TextEmbeddingConfig embedding{.vocabulary = config.vocabulary,
                                .embed = config.block.embed,
                                .scaled = config.scaled_embeddings,
                                .types = config.types,
                                .dropout = config.block.dropout,
                                .position = config.block.positions.config()};
  if (config.embedding_norm) embedding.norm = config.block.norm_config();
  return embedding;
}

}  // namespace

BlockConfig TextEncoderConfig::default_block() {
  return {.embed = 128,
          .heads = 4,
          .hidden = 256,
          .norm = {.first = true},
          .activation = FeedForwardKind::gelu};
}

void TextEncoderConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("layers", layers, "number of layers", {.min = 1, .max = kMaxLayers});
  block.fields(field);
  field("types", types, "kinds of tokens, such as the two segments of BERT; 0: tokens have none",
        {.min = 0, .max = kMaxFeatures});
  field("scaled_embeddings", scaled_embeddings,
        "whether embeddings are multiplied by the square root of embed");
  field("embedding_norm", embedding_norm, "whether the sum of the embeddings has a norm");
}

void TextEncoderConfig::validate(std::string_view model) const {
  block.validate();
  HEED_CHECK(layers >= 1, "[{}] {} layers: at least one is needed", model, layers);
  HEED_CHECK(types >= 0, "[{}] {} types of tokens: give 0 for none", model, types);
  for (const AttentionChoice& attention : attentions()) {
    check_attention(model, {.key = "attention"}, attention);
  }
  check_used(model, block, default_block(), attentions());
  for (std::int64_t i = 0; i < std::ssize(block.layer_pattern) + 1; ++i) {
    block.of_layer(i).self_attention_of_layer();
  }
}

TextEncoder::TextEncoder(const TextEncoderConfig& config, Generator& generator)
    : tokens(embedding_of(config), generator),
      encoder({.layers = config.layers, .block = config.block}, generator) {}

void TextEncoder::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("encoder", encoder);
}

Tensor TextEncoder::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  const Tensor x = tokens(batch.ids, 0, tokens.types ? batch.types : Tensor());  // [B, T, E]
  return encoder({.x = x, .lengths = batch.lengths}, weights);                   // [B, T, E]
}

}  // namespace heed
