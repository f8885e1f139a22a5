#include "heed/models/text_embedding.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
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
  if (config.types > 0) types.emplace(EmbeddingConfig{config.types, config.embed}, generator);
  if (config.norm) norm.emplace(*config.norm);
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
  visitor("types", types);
  visitor("norm", norm);
  visitor("dropout", dropout);
}

Tensor TextEmbedding::type_vectors(const Tensor& token_types) const {
  if (token_types.defined()) return (*types)(token_types);  // [B, T, E]
  return (*types)(zeros({1}, DType::i32));                  // [1, E], type 0
}

Tensor TextEmbedding::operator()(const Tensor& ids, FirstPositions first,
                                 const Tensor& token_types) const {
  HEED_CHECK(types || !token_types.defined(),
             "[embedding] token types were given to a model that has none: leave them out");
  Tensor x = tokens(ids);  // [B, T, E]
  if (scale_ != 1.0) x = x * scale_;
  if (position) x = position->embed(x, first);
  if (types) x = x + type_vectors(token_types);
  return dropout(norm ? (*norm)(x) : x);
}

}  // namespace heed
