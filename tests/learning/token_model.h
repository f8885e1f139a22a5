// A Transformer of one layer or several that names a token at each position, for proofs that differ
// only in how positions attend and know where they stand.
#pragma once

#include <vector>

#include "heed/attention/position.h"
#include "heed/models/transformer_layer.h"
#include "heed/nn/embedding.h"
#include "heed/tensor/create.h"

namespace heed::test {

struct TokenModelConfig {
  std::int64_t vocabulary = 16;
  std::int64_t layers = 1;
  TransformerLayerConfig layer = {
      .embed = 64, .heads = 4, .hidden = 128, .norm_first = true, .dropout = 0.0};
  PositionConfig position = {};  // of those that are added to embeddings
};

struct TokenModel : Module {
  explicit TokenModel(const TokenModelConfig& config)
      : embedding({.vocabulary = config.vocabulary, .size = config.layer.embed}),
        position(make_position(config.position, {.embed = config.layer.embed})),
        norm({.size = config.layer.embed}),
        out({.in = config.layer.embed, .out = config.vocabulary}) {
    // As in GPT-2, so that where a token stands weighs as much as what it is.
    embedding.weight =
        normal(embedding.weight.shape(), 0.0, 0.02, default_generator()).requires_grad();
    for (std::int64_t i = 0; i < config.layers; ++i) layers.emplace_back(config.layer);
  }

  void visit(ParameterVisitor& visitor) override {
    visitor("embedding", embedding);
    visitor("position", position);
    visitor("layers", layers);
    visitor("norm", norm);
    visitor("out", out);
  }

  // Tokens [B, T] -> logits [B, T, V]; no position sees what follows.
  Tensor operator()(const Tensor& tokens) const {
    Tensor x = embedding(tokens);          // [B, T, E]
    if (position) x = position->embed(x);  // [B, T, E]
    for (const TransformerEncoderLayer& layer : layers) x = layer({.x = x, .causal = true});
    return out(norm(x));  // [B, T, V]
  }

  Embedding embedding;
  std::unique_ptr<Position> position;  // or null
  std::vector<TransformerEncoderLayer> layers;
  LayerNorm norm;
  Linear out;
};

}  // namespace heed::test
