#include "heed/models/captioner.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/models/block.h"
#include "heed/models/picture_sizes.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

const CaptionerConfig& checked(const CaptionerConfig& config) {
  config.validate();
  const PictureSize& picture = config.picture;
  HEED_CHECK(
      picture.channels > 0 && picture.height > 0 && picture.width > 0 && config.vocabulary > 0,
      "[captioner] pictures of {} x {} x {} and a vocabulary of {}: give all sizes",
      picture.channels, picture.height, picture.width, config.vocabulary);
  return config;
}

OutputLayer output_of(const CaptionerConfig& config, Generator& generator) {
  Tensor weight = empty({config.vocabulary, config.decoder_config().readout_size()});
  init::kaiming_uniform(weight, generator);
  return OutputLayer(Weight(weight.requires_grad()),
                     zeros({config.vocabulary}).requires_grad());  // [V, R]
}

// The states of all layers from the mean of the cells [B, E]: [B, layers, H].
Tensor first_states(const Tensor& mean, const std::vector<Linear>& maps) {
  if (maps.empty()) return {};
  std::vector<Tensor> all;
  for (const Linear& map : maps) all.push_back(map(mean));  // [B, H]
  return stack(all, 1);
}

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void CaptionerConfig::fields(io::Fields& field) {
  constexpr double kMaxSide = 1 << 15;
  field("channels", picture.channels, "channels of a picture; 0: as in the data",
        {.min = 0, .max = kMaxSide});
  field("height", picture.height, "pixels; 0: as in the data", {.min = 0, .max = kMaxSide});
  field("width", picture.width, "pixels; 0: as in the data", {.min = 0, .max = kMaxSide});
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("padding", padding, "the token that fills rows; none: as in the vocabulary");
  field("stride", stride, "pixels between the places of the first convolution",
        {.min = 1, .max = 16});
  field("stem", encoder.channels, "channels of the first stage; each stage has twice as many",
        {.min = 1, .max = 1 << 12});
  field("stages", encoder.stages, "stages of residual blocks; each but the first halves the sides",
        {.min = 1, .max = 8});
  field("blocks", encoder.blocks, "residual blocks of a stage", {.min = 1, .max = 1000});
  decoder.fields(field);
  field("dropout", dropout, "dropout probability of embeddings and between layers",
        {.min = 0, .max = 1});
}

RecurrentDecoderConfig CaptionerConfig::decoder_config() const {
  RecurrentDecoderConfig config = decoder;
  config.memory = cell_size();
  config.dropout = dropout;
  return config;
}

std::vector<AttentionChoice> CaptionerConfig::attentions() const {
  if (!decoder.attention) return {};
  return {*decoder.attention};
}

std::array<std::int64_t, 2> CaptionerConfig::cells() const {
  const auto side = [&](std::int64_t pixels) {
    std::int64_t cells = (pixels + stride - 1) / stride;
    for (std::int64_t stage = 1; stage < encoder.stages; ++stage) cells = (cells + 1) / 2;
    return cells;
  };
  return {side(picture.height), side(picture.width)};
}

void CaptionerConfig::validate() const {
  io::check_limits(*this, "captioner");
  decoder_config().validate();
  for (const double p : {dropout, decoder.readout_dropout}) {
    HEED_CHECK(p >= 0.0 && p < 1.0, "[captioner] dropout {}: it must be at least 0 and below 1", p);
  }
}

void CaptionerConfig::set_sizes(const ModelSizes& sizes) {
  picture = sizes.picture;
  vocabulary = sizes.target_vocabulary;
  if (!padding) padding = sizes.padding;
}

// ---- the model ----------------------------------------------------------------------------------

Captioner::Captioner(const Config& config, Generator& generator)
    : conv(same_conv(checked(config).picture.channels, config.encoder.channels, 3, config.stride,
                     generator)),
      norm({.channels = config.encoder.channels}),
      blocks(residual_blocks(config.encoder, generator)),
      places(empty({config.cells()[0] * config.cells()[1], config.cell_size()})),
      target({.vocabulary = config.vocabulary,
              .size = config.decoder.embed,
              .padding = config.padding},
             generator),
      dropout({.p = config.dropout}),
      decoder(config.decoder_config(), generator),
      output(output_of(config, generator)),
      config_(config) {
  init::normal(places, 0.1, generator);
  places = places.requires_grad();
  init::normal(target.weight.data, 1.0 / std::sqrt(static_cast<double>(config.decoder.embed)),
               generator);
  if (config.padding) {
    Tensor row = view::slice(target.weight.data, 0, *config.padding, *config.padding + 1);
    init::zeros(row);  // [1, E]
  }
  const LinearConfig map{
      .in = config.cell_size(), .out = config.decoder.hidden, .activation = Activation::tanh};
  for (std::int64_t layer = 0; layer < config.decoder.layers; ++layer) {
    state_bridge.emplace_back(map, generator);
    if (config.decoder.cell == Cell::lstm) cell_bridge.emplace_back(map, generator);
  }
}

ModelChoice Captioner::choice() const { return choice_of<Captioner>(kCaptioner, config_); }

void Captioner::visit(ParameterVisitor& visitor) {
  visitor("conv", conv);
  visitor("norm", norm);
  visitor("blocks", blocks);
  visitor("places", places);
  visitor("state_bridge", state_bridge);
  visitor("cell_bridge", cell_bridge);
  visitor("target", target);
  visitor("dropout", dropout);
  visitor("decoder", decoder);
  visitor("output", output);
}

Memory Captioner::encode(const Tensor& pictures) const {
  check_pictures("captioner", config_.picture, pictures);
  Tensor x = norm.with_relu(conv(pictures));               // [B, stem, H, W]
  for (const ResidualBlock& block : blocks) x = block(x);  // [B, E, rows, columns]
  const auto [rows, columns] = config_.cells();
  const Tensor flat = reshape(x, {x.size(0), config_.cell_size(), rows * columns});  // [B, E, S]
  const Tensor cells = transpose(flat, 1, 2) + places;                               // [B, S, E]
  const Tensor middle = mean(cells, {1});                                            // [B, E]
  return {.states = cells,
          .lengths = {},
          .state = first_states(middle, state_bridge),
          .cell = first_states(middle, cell_bridge)};
}

Tensor Captioner::decode(const Tensor& ids, const Memory& memory,
                         std::vector<LayerWeights>* weights) const {
  const bool observes = weights != nullptr && decoder.attention;
  if (weights != nullptr) weights->assign(observes ? 1 : 0, {});
  return decoder(embed(ids), memory, observes ? &weights->front().cross : nullptr);
}

std::unique_ptr<Decoding> Captioner::start(const Memory& memory) const {
  return start_decoding(
      decoder, [this](const Tensor& ids) { return embed(ids); }, memory, CacheForm::f32);
}

}  // namespace heed
