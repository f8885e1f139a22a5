#include "heed/nn/embedding.h"

#include "heed/nn/init.h"
#include "heed/ops/embedding.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {

Embedding::Embedding(const EmbeddingConfig& config, Generator& generator)
    : padding_(config.padding) {
  HEED_CHECK(config.vocabulary > 0 && config.size > 0,
             "[embedding] vocabulary {}, size {}: both are required and must be positive",
             config.vocabulary, config.size);
  HEED_CHECK(!padding_ || (*padding_ >= 0 && *padding_ < config.vocabulary),
             "[embedding] padding {}: it must be a token of the vocabulary of {}", *padding_,
             config.vocabulary);
  weight = Weight(empty({config.vocabulary, config.size}));  // [V, E]
  init::normal(weight.data, 1.0, generator);
  if (padding_) {
    Tensor row = view::select(weight.data, 0, *padding_);  // [E]
    init::zeros(row);
  }
  weight.data.requires_grad();
}

void Embedding::visit(ParameterVisitor& visitor) { visitor("weight", weight); }

Tensor Embedding::operator()(const Tensor& ids) const {
  return weight.lookup(ids, padding_);  // […, E]
}

}  // namespace heed
