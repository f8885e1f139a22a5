#include "heed/models/reformer.h"

#include "heed/base/error.h"
#include "heed/models/stack_decoding.h"

namespace heed {
namespace {

const ReformerConfig& checked(const ReformerConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0, "[reformer] a vocabulary of {}: give its size",
             config.vocabulary);
  return config;
}

ReformerLayers layers_of(const ReformerConfig& config) {
  return {.model = "reformer", .key = "layers", .words = config.layers, .causal = true};
}

}  // namespace

void ReformerConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("layers", layers, "the attention of each layer in order: lsh, local or full");
  block.fields(field);
}

void ReformerConfig::validate() const { block.validate(layers_of(*this)); }

ReversibleStackConfig ReformerConfig::stack() const { return block.stack(layers_of(*this)); }

Reformer::Reformer(const Config& config, Generator& generator)
    : tokens(config.block.embedding(checked(config).vocabulary), generator),
      decoder(config.stack(), generator),
      output(reformer_output(config.vocabulary, 2 * config.block.embed, generator)),
      config_(config) {
  initialise_reformer(decoder, generator);
}

ModelChoice Reformer::choice() const { return choice_of<Reformer>(kReformer, config_); }

void Reformer::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("decoder", decoder);
  visitor("output", output);
}

Tensor Reformer::operator()(const Tensor& ids, std::vector<LayerWeights>* weights) const {
  return decoder({.x = tokens(ids), .causal = true}, weights);  // [B, T, 2 E]
}

std::unique_ptr<Decoding> Reformer::start(std::int64_t batch, CacheForm cache) const {
  return decode_with_state(tokens, decoder, {.batch = batch, .cache = cache});
}

}  // namespace heed
