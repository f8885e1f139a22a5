#include "heed/models/recurrent_translator.h"

#include <cmath>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/models/stack_decoding.h"
#include "heed/nn/init.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

const RecurrentTranslatorConfig& checked(const RecurrentTranslatorConfig& config) {
  config.validate();
  HEED_CHECK(config.source_vocabulary > 0 && config.target_vocabulary > 0,
             "[recurrent] vocabularies of {} and {}: give the sizes of both",
             config.source_vocabulary, config.target_vocabulary);
  return config;
}

EmbeddingConfig embedding_of(const RecurrentTranslatorConfig& config, std::int64_t vocabulary) {
  return {.vocabulary = vocabulary, .size = config.decoder.embed, .padding = config.padding};
}

OutputLayer output_of(const RecurrentTranslatorConfig& config, const Weight& embeddings,
                      Generator& generator) {
  const Tensor bias =
      config.output_bias ? zeros({config.target_vocabulary}).requires_grad() : Tensor();  // [V]
  if (!has_own_output(config.tied)) return OutputLayer(embeddings, bias);
  Tensor weight = empty({config.target_vocabulary, config.decoder_config().readout_size()});
  init::kaiming_uniform(weight, generator);
  return OutputLayer(Weight(weight.requires_grad()), bias);  // [V, R]
}

// The vector of the padding token stays 0.
void initialise(RecurrentTranslator& model, const RecurrentTranslatorConfig& config,
                Generator& generator) {
  const double deviation = 1.0 / std::sqrt(static_cast<double>(config.decoder.embed));
  for (Embedding* const table : {&model.source, &model.target}) {
    init::normal(table->weight.data, deviation, generator);
  }
  if (config.init_range > 0.0) {
    for (NamedTensor& parameter : model.named_parameters()) {
      init::uniform(parameter.tensor, -config.init_range, config.init_range, generator);
    }
  }
  if (!config.padding) return;
  for (Embedding* const table : {&model.source, &model.target}) {
    Tensor row = view::slice(table->weight.data, 0, *config.padding, *config.padding + 1);
    init::zeros(row);  // [1, E]
  }
}

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void RecurrentTranslatorConfig::fields(io::Fields& field) {
  field("source_vocabulary", source_vocabulary,
        "tokens of the source; 0: the size of its vocabulary", {.min = 0});
  field("target_vocabulary", target_vocabulary,
        "tokens of the target; 0: the size of its vocabulary", {.min = 0});
  field("padding", padding, "the token that fills rows; none: as in the vocabulary");
  decoder.fields(field);
  field("encoder_hidden", encoder_hidden,
        "features of the encoder's states in one direction; 0: as hidden",
        {.min = 0, .max = kMaxFeatures});
  field("bidirectional", bidirectional, "whether the encoder reads the source in both directions");
  field("reversed_source", reversed_source,
        "whether an encoder of one direction reads from the last token to the first");
  field("bridge", bridge,
        "how the encoder's final states become the decoder's first ones: dense (a layer with "
        "tanh), copy, zero");
  field("copy", decoder.copy,
        "whether words of the source are copied, with attention = \"pointer_generator\"");
  field("coverage", coverage,
        "weight of the coverage loss of a model that copies: attending to a position again",
        {.min = 0});
  field("dropout", dropout, "dropout probability of embeddings and between layers",
        {.min = 0, .max = 1});
  field("tied", tied, kTiedHelp);
  field("output_bias", output_bias, "whether the scores of the output have a bias");
  field("init_range", init_range, "parameters begin uniform in ± this; 0: as their layers choose",
        {.min = 0});
}

RecurrentDecoderConfig RecurrentTranslatorConfig::decoder_config() const {
  RecurrentDecoderConfig config = decoder;
  config.memory = memory_size();
  config.dropout = dropout;
  return config;
}

std::vector<AttentionChoice> RecurrentTranslatorConfig::attentions() const {
  if (!decoder.attention) return {};
  return {*decoder.attention};
}

void RecurrentTranslatorConfig::validate() const {
  const RecurrentDecoderConfig own = decoder_config();
  own.validate();
  for (const double p : {dropout, decoder.readout_dropout}) {
    HEED_CHECK(p >= 0.0 && p < 1.0, "[recurrent] dropout {}: it must be at least 0 and below 1", p);
  }
  HEED_CHECK(
      coverage >= 0.0 && (coverage == 0.0 || decoder.copy),
      "[recurrent] coverage = {}: it is the weight of a loss of models that copy; set copy = "
      "true, or leave it out",
      coverage);
  HEED_CHECK(!reversed_source || !bidirectional,
             "[recurrent] reversed_source with bidirectional: two directions read both ways; set "
             "bidirectional = false, or leave reversed_source out");
  HEED_CHECK(bridge != Bridge::copy || memory_size() == decoder.hidden,
             "[recurrent] bridge = \"copy\" of {} features to states of {}: set encoder_hidden = "
             "{}, or bridge = \"dense\"",
             memory_size(), decoder.hidden, decoder.hidden / (bidirectional ? 2 : 1));
  HEED_CHECK(has_own_output(tied) || own.readout_size() == decoder.embed,
             "[recurrent] tied = \"{}\" with a readout of {} features and embeddings of {}: tied "
             "matrices need equal sizes; readout = \"maxout\" has those of the embeddings",
             io::enum_name(tied), own.readout_size(), decoder.embed);
  check_tied("recurrent", tied, {source_vocabulary, target_vocabulary});
}

void RecurrentTranslatorConfig::set_sizes(const ModelSizes& sizes) {
  source_vocabulary = sizes.source_vocabulary;
  target_vocabulary = sizes.target_vocabulary;
  if (!padding) padding = sizes.padding;
}

// ---- the model ----------------------------------------------------------------------------------

RecurrentTranslator::RecurrentTranslator(const Config& config, Generator& generator)
    : source(embedding_of(checked(config), config.source_vocabulary), generator),
      target(embedding_of(config, config.target_vocabulary), generator),
      dropout({.p = config.dropout}),
      encoder(make_recurrent(config.decoder.cell,
                             {.input = config.decoder.embed,
                              .hidden = config.encoder_size(),
                              .layers = config.decoder.layers,
                              .bidirectional = config.bidirectional,
                              .reverse = config.reversed_source,
                              .dropout = config.dropout},
                             generator)),
      decoder(config.decoder_config(), generator),
      output(output_of(config, target.weight, generator)),
      config_(config) {
  if (config.bridge == Bridge::dense) {
    const LinearConfig map{
        .in = config.memory_size(), .out = config.decoder.hidden, .activation = Activation::tanh};
    for (std::int64_t layer = 0; layer < config.decoder.layers; ++layer) {
      state_bridge.emplace_back(map, generator);
      if (config.decoder.cell == Cell::lstm) cell_bridge.emplace_back(map, generator);
    }
  }
  if (shares_embeddings(config.tied)) source.weight = target.weight;
  initialise(*this, config, generator);
}

ModelChoice RecurrentTranslator::choice() const {
  return choice_of<RecurrentTranslator>(kRecurrentTranslator, config_);
}

void RecurrentTranslator::visit(ParameterVisitor& visitor) {
  visitor("source", source);
  visitor("target", target);
  visitor("dropout", dropout);
  visitor("encoder", encoder);
  visitor("state_bridge", state_bridge);
  visitor("cell_bridge", cell_bridge);
  visitor("decoder", decoder);
  visitor("output", output);
}

// Final states of the encoder [layers * directions, B, He] -> [B, layers, H].
Tensor RecurrentTranslator::bridge(const Tensor& states, const std::vector<Linear>& maps) const {
  if (!states.defined()) return {};
  const std::int64_t layers = config_.decoder.layers;
  if (config_.bridge == Bridge::zero) {
    return zeros({states.size(1), layers, config_.decoder.hidden}, states.dtype());
  }
  std::vector<Tensor> all;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const Tensor own =
        config_.bidirectional
            ? concat({select(states, 0, 2 * layer), select(states, 0, 2 * layer + 1)}, -1)
            : select(states, 0, layer);  // [B, 2 He] or [B, He]
    all.push_back(maps.empty() ? own : maps[static_cast<std::size_t>(layer)](own));  // [B, H]
  }
  return stack(all, 1);  // [B, layers, H]
}

Memory RecurrentTranslator::encode(const Tensor& ids, const Tensor& lengths,
                                   std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->clear();
  const RecurrentResult read = (*encoder)(dropout(source(ids)), {.lengths = lengths});
  return {.states = read.output,  // [B, S, M]
          .lengths = lengths,
          .state = bridge(read.state, state_bridge),  // [B, layers, H]
          .cell = bridge(read.cell, cell_bridge)};    // [B, layers, H]
}

Tensor RecurrentTranslator::decode(const Tensor& ids, const Memory& memory,
                                   std::vector<LayerWeights>* weights) const {
  const bool observes = weights != nullptr && decoder.attention;
  if (weights != nullptr) weights->assign(observes ? 1 : 0, {});
  return decoder(embed_target(ids), memory, observes ? &weights->front().cross : nullptr);
}

Tensor RecurrentTranslator::decode_copying(const Tensor& ids, const Memory& memory,
                                           CopySteps& copied) const {
  HEED_ASSERT(copies());
  return decoder(embed_target(ids), memory, nullptr, &copied);  // [B, T, R]
}

std::unique_ptr<Decoding> RecurrentTranslator::start(const Memory& memory, Stepping stepping,
                                                     CacheForm cache) const {
  if (stepping == Stepping::replayed) return decode_by_replay(*this, memory);
  return start_decoding(
      decoder, [this](const Tensor& ids) { return embed_target(ids); }, memory, cache);
}

std::int64_t RecurrentTranslator::max_source() const { return Position::kAnyLength; }
std::int64_t RecurrentTranslator::max_target() const { return Position::kAnyLength; }

}  // namespace heed
