#include "heed/models/text_embedding.h"

#include <cmath>

#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/view.h"

namespace heed {

TextEmbedding::TextEmbedding(const TextEmbeddingConfig& config, Generator& generator)
    : tokens({.vocabulary = config.vocabulary, .size = config.embed, .padding = config.padding},
             generator),
      dropout({.p = config.dropout}),
      scale_(config.scaled ? std::sqrt(static_cast<double>(config.embed)) : 1.0) {
  if (find_position(config.position.name).way == PositionWay::embeddings) {
    position = make_position(config.position, {.embed = config.embed}, generator);
  }
  // Scaled vectors then have a variance of 1. Used as rows of an output matrix, they give scores
  // with a variance of 1.
  const double deviation = config.scaled ? 1.0 / scale_ : 0.02;
  init::normal(tokens.weight.data, deviation, generator);
  if (config.padding) {
    Tensor row = view::slice(tokens.weight.data, 0, *config.padding, *config.padding + 1);
    init::zeros(row);
  }
}

void TextEmbedding::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("position", position);
  visitor("dropout", dropout);
}

Tensor TextEmbedding::operator()(const Tensor& ids, std::int64_t first) const {
  Tensor x = tokens(ids);  // [B, T, E]
  if (scale_ != 1.0) x = x * scale_;
  if (position) x = position->embed(x, first);
  return dropout(x);
}

}  // namespace heed
