#include "heed/models/masked_model.h"

#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

const MaskedModelConfig& checked(const MaskedModelConfig& config) {
  config.validate();
  HEED_CHECK(config.encoder.vocabulary > 0, "[masked_model] a vocabulary of {}: give its size",
             config.encoder.vocabulary);
  return config;
}

OutputLayer output_of(const MaskedModelConfig& config, const Weight& embeddings,
                      Generator& generator) {
  const std::int64_t V = config.encoder.vocabulary;
  Tensor bias = zeros({V}).requires_grad();
  if (config.tied) return OutputLayer(embeddings, std::move(bias));
  Tensor weight = empty({V, config.encoder.block.embed});  // [V, E]
  init::normal(weight, 0.02, generator);
  return OutputLayer(Weight(weight.requires_grad()), std::move(bias));
}

}  // namespace

void MaskedModelConfig::fields(io::Fields& field) {
  encoder.fields(field);
  field("head", head, "activation of the dense layer before the output");
  field("tied", tied, "whether embeddings and output share one matrix");
}

void MaskedModelConfig::validate() const { encoder.validate("masked_model"); }

void MaskedModelConfig::set_sizes(const ModelSizes& sizes) {
  encoder.vocabulary = sizes.target_vocabulary;
}

MaskedModel::MaskedModel(const Config& config, Generator& generator)
    : text(checked(config).encoder, generator),
      dense({.in = config.encoder.block.embed,
             .out = config.encoder.block.embed,
             .activation = config.head},
            generator),
      norm(config.encoder.block.norm_config()),
      output(output_of(config, text.tokens.tokens.weight, generator)),
      config_(config) {}

ModelChoice MaskedModel::choice() const { return choice_of<MaskedModel>(kMaskedModel, config_); }

void MaskedModel::visit(ParameterVisitor& visitor) {
  text.visit(visitor);
  visitor("head.dense", dense);
  visitor("head.norm", norm);
  visitor("output", output);
}

Tensor MaskedModel::operator()(const TextBatch& batch, std::vector<LayerWeights>* weights) const {
  return norm(dense(text(batch, weights)));  // [B, T, E]
}

}  // namespace heed
