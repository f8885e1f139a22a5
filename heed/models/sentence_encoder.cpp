#include "heed/models/sentence_encoder.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

const SentenceEncoderConfig& checked(const SentenceEncoderConfig& config) {
  config.validate();
  HEED_CHECK(config.encoder.vocabulary > 0, "[sentence_encoder] a vocabulary of {}: give its size",
             config.encoder.vocabulary);
  return config;
}

}  // namespace

void SentenceEncoderConfig::fields(io::Fields& field) {
  encoder.fields(field);
  field("pooling", pooling, "states that make the vector of a text");
  field("normalize", normalize, "whether vectors are divided by their length");
  field("projection", projection, "features of a dense layer after pooling; 0: no such layer",
        {.min = 0, .max = kMaxFeatures});
  field("projection_activation", projection_activation, "activation of this layer");
  field("projection_bias", projection_bias, "whether this layer has a bias");
  field("max_tokens", max_tokens,
        "tokens read of a text, special ones included; 0: as many as the position code has",
        {.min = 0});
}

void SentenceEncoderConfig::validate() const {
  encoder.validate("sentence_encoder");
  HEED_CHECK(projection >= 0 && max_tokens >= 0,
             "[sentence_encoder] projection {} and max_tokens {}: they must be at least 0",
             projection, max_tokens);
}

void SentenceEncoderConfig::set_sizes(const ModelSizes& sizes) {
  encoder.vocabulary = sizes.target_vocabulary;
}

SentenceEncoder::SentenceEncoder(const Config& config, Generator& generator)
    : text(checked(config).encoder, generator), config_(config) {
  if (config.projection == 0) return;
  projection.emplace(LinearConfig{.in = config.encoder.block.embed,
                                  .out = config.projection,
                                  .bias = config.projection_bias,
                                  .activation = config.projection_activation},
                     generator);
}

ModelChoice SentenceEncoder::choice() const {
  return choice_of<SentenceEncoder>(kSentenceEncoder, config_);
}

void SentenceEncoder::visit(ParameterVisitor& visitor) {
  text.visit(visitor);
  visitor("projection", projection);
}

Tensor SentenceEncoder::vectors(const Tensor& states, const Tensor& lengths,
                                const VectorOptions& options) const {
  Tensor y = pool(states, lengths, options.pooling.value_or(config_.pooling));  // [B, E]
  if (projection) y = (*projection)(y);                                         // [B, E']
  return options.normalize.value_or(config_.normalize) ? unit_rows(y) : y;
}

std::int64_t SentenceEncoder::vector_size() const {
  return config_.projection > 0 ? config_.projection : config_.encoder.block.embed;
}

std::int64_t SentenceEncoder::max_length() const {
  const std::int64_t positions = text.max_length();
  return config_.max_tokens > 0 ? std::min(config_.max_tokens, positions) : positions;
}

}  // namespace heed
