#include "heed/models/recurrent_attention.h"

#include "heed/attention/gaussian_draw.h"
#include "heed/attention/samples.h"
#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/models/block.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

const RecurrentAttentionConfig& checked(const RecurrentAttentionConfig& config) {
  config.validate();
  config.sizes.check("recurrent_attention");
  const PictureSize& picture = config.sizes.picture;
  HEED_CHECK(
      config.sensor.patch <= picture.height && config.sensor.patch <= picture.width,
      "[recurrent_attention] patch = {} for pictures of {} x {} pixels: give a smaller patch",
      config.sensor.patch, picture.height, picture.width);
  return config;
}

Linear dense(std::int64_t in, std::int64_t out, Activation activation, Generator& generator) {
  return Linear({.in = in, .out = out, .activation = activation}, generator);
}

// Pixels of a glimpse.
std::int64_t pixels_of(const RecurrentAttentionConfig& config) {
  const auto [patch, scales] = config.sensor;
  return scales * config.sizes.picture.channels * patch * patch;
}

}  // namespace

void RecurrentAttentionConfig::fields(io::Fields& field) {
  constexpr io::Limits kFeatures{.min = 1, .max = kMaxFeatures};
  sizes.fields(field);
  field("glimpses", glimpses, "glimpses of a picture", {.min = 1, .max = 1000});
  field("patch", sensor.patch, "side of the patches of a glimpse in pixels",
        {.min = 1, .max = 1 << 10});
  field("scales", sensor.scales,
        "patches of a glimpse; each covers twice the side of the one before, at half the "
        "resolution",
        {.min = 1, .max = 6});
  field("glimpse_hidden", glimpse_hidden,
        "features of what a glimpse shows, and as many of where it is", kFeatures);
  field("hidden", hidden, "features of a state", kFeatures);
  field("deviation", deviation,
        "standard deviation of locations in training; the sides of a picture go from -1 to 1",
        {.min = 1e-3, .max = 10});
}

void RecurrentAttentionConfig::validate() const { io::check_limits(*this, "recurrent_attention"); }

RecurrentAttention::RecurrentAttention(const Config& config, Generator& generator)
    : what(dense(pixels_of(checked(config)), config.glimpse_hidden, Activation::relu, generator)),
      where(dense(2, config.glimpse_hidden, Activation::relu, generator)),
      join(dense(2 * config.glimpse_hidden, config.hidden, Activation::relu, generator)),
      core(dense(2 * config.hidden, config.hidden, Activation::relu, generator)),
      location(dense(config.hidden, 2, Activation::tanh, generator)),
      baseline(dense(config.hidden, 1, Activation::none, generator)),
      scores(dense(config.hidden, config.sizes.classes, Activation::none, generator)),
      config_(config) {}

ModelChoice RecurrentAttention::choice() const {
  return choice_of<RecurrentAttention>(kRecurrentAttention, config_);
}

void RecurrentAttention::visit(ParameterVisitor& visitor) {
  visitor("what", what);
  visitor("where", where);
  visitor("join", join);
  visitor("core", core);
  visitor("location", location);
  visitor("baseline", baseline);
  visitor("scores", scores);
}

// The next locations: states [B, hidden] -> [B, 2], without gradient.
Tensor RecurrentAttention::look(const Tensor& h) const {
  const Tensor seen = h.detach();
  const Tensor mean = location(seen);  // [B, 2]
  if (!training()) return mean.detach();
  const GaussianDraw draw = draw_gaussian(mean, config_.deviation);
  if (std::vector<Sampled>* const samples = recorded_samples()) {
    samples->push_back({.log_prob = unsqueeze(draw.log_prob, 1),  // [B, 1]
                        .entropy = unsqueeze(draw.entropy, 1),
                        .baseline = baseline(seen)});
  }
  return draw.value;
}

Tensor RecurrentAttention::operator()(const Tensor& pictures,
                                      std::vector<LayerWeights>* weights) const {
  check_pictures("recurrent_attention", config_.sizes.picture, pictures);
  const std::int64_t B = pictures.size(0);
  const auto [C, H, W] = config_.sizes.picture;
  std::vector<Tensor> seen;
  Tensor h = zeros({B, config_.hidden}, pictures.dtype());  // [B, hidden]
  for (std::int64_t t = 0; t < config_.glimpses; ++t) {
    const Tensor at = look(h);  // [B, 2]
    const Tensor patches = reshape(glimpse(pictures, at, config_.sensor), {B, pixels_of(config_)});
    const Tensor g = join(concat({what(patches), where(at)}, 1));  // [B, hidden]
    h = core(concat({g, h}, 1));                                   // [B, hidden]
    if (weights != nullptr) seen.push_back(glimpse_weights(at, H, W, config_.sensor));
  }
  if (weights != nullptr) {
    weights->assign(1, {});
    weights->front().cross = unsqueeze(stack(seen, 1), 1);  // [B, 1, glimpses, H * W]
  }
  return scores(h);  // [B, C]
}

}  // namespace heed
