// A Transformer of one or more layers that predicts a token at each position, for tests that differ
// only in attention and positions.
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
  BlockConfig block = {.embed = 64,
                       .heads = 4,
                       .hidden = 128,
                       .norm = {.first = true},
                       .dropout = 0.0,
                       .positions = "none"};
};

struct TokenModel : Module {
  explicit TokenModel(const TokenModelConfig& config)
      : embedding({.vocabulary = config.vocabulary, .size = config.block.embed}),
        position(make_position(config.block.positions.acts_in_attention()
                                   ? PositionConfig{}
                                   : config.block.positions.config(),
                               {.embed = config.block.embed})),
        norm({.size = config.block.embed}),
        out({.in = config.block.embed, .out = config.vocabulary}) {
    // As in GPT-2, so that embeddings are not larger than position codes.
    embedding.weight = Weight(
        normal(embedding.weight.data.shape(), 0.0, 0.02, default_generator()).requires_grad());
    for (std::int64_t i = 0; i < config.layers; ++i) layers.emplace_back(config.block);
  }

  void visit(ParameterVisitor& visitor) override {
    visitor("embedding", embedding);
    visitor("position", position);
    visitor("layers", layers);
    visitor("norm", norm);
    visitor("out", out);
  }

  // Tokens [B, T] -> logits [B, T, V], causal.
  Tensor operator()(const Tensor& tokens) const {
    Tensor x = embedding(tokens);          // [B, T, E]
    if (position) x = position->embed(x);  // [B, T, E]
    for (const TransformerLayer& layer : layers) x = layer({.x = x, .causal = true});
    return out(norm(x));  // [B, T, V]
  }

  Embedding embedding;
  std::unique_ptr<Position> position;  // or null
  std::vector<TransformerLayer> layers;
  LayerNorm norm;
  Linear out;
};

}  // namespace heed::test
