#include "heed/models/vision_transformer.h"

#include "heed/base/error.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

const VisionTransformerConfig& checked(const VisionTransformerConfig& config) {
  config.validate();
  config.sizes.check("vision_transformer");
  const PictureSize& picture = config.sizes.picture;
  HEED_CHECK(picture.height % config.patch == 0 && picture.width % config.patch == 0,
             "[vision_transformer] pictures of {} x {} pixels cannot be cut into patches of {} x "
             "{}: give a patch that divides both",
             picture.height, picture.width, config.patch, config.patch);
  return config;
}

}  // namespace

BlockConfig VisionTransformerConfig::default_block() {
  return {.embed = 128,
          .heads = 4,
          .hidden = 256,
          .norm = {.first = true},
          .activation = FeedForwardKind::gelu,
          .positions = "learned"};
}

void VisionTransformerConfig::fields(io::Fields& field) {
  sizes.fields(field);
  field("patch", patch, "side of a patch in pixels", {.min = 1, .max = 1 << 15});
  field("layers", layers, "number of layers", {.min = 1, .max = kMaxLayers});
  block.fields(field);
}

void VisionTransformerConfig::validate() const {
  block.validate();
  HEED_CHECK(patch >= 1 && layers >= 1,
             "[vision_transformer] patches of {} pixels and {} layers: at least 1 of each", patch,
             layers);
  for (const AttentionChoice& attention : attentions()) {
    check_attention("vision_transformer", {.key = "attention"}, attention);
  }
  check_used("vision_transformer", block, default_block(), attentions());
}

VisionTransformer::VisionTransformer(const Config& config, Generator& generator)
    : patches({.in = checked(config).sizes.picture.channels * config.patch * config.patch,
               .out = config.block.embed},
              generator),
      dropout({.p = config.block.dropout}),
      encoder({.layers = config.layers, .block = config.block}, generator),
      scores({.in = config.block.embed, .out = config.sizes.classes}, generator),
      config_(config) {
  const PositionConfig& code = config.block.positions.config();
  if (find_position(code.name).way == PositionWay::embeddings) {
    position = make_position(code, {.embed = config.block.embed}, generator);
    HEED_CHECK(position->length() >= config.patches(),
               "[vision_transformer] a picture has {} patches, positions '{}' end at {}: give them "
               "max_length={}, or larger patches",
               config.patches(), code.name, position->length(), config.patches());
  }
}

ModelChoice VisionTransformer::choice() const {
  return choice_of<VisionTransformer>(kVisionTransformer, config_);
}

void VisionTransformer::visit(ParameterVisitor& visitor) {
  visitor("patches", patches);
  visitor("position", position);
  visitor("dropout", dropout);
  visitor("encoder", encoder);
  visitor("scores", scores);
}

// The pixels of each patch: [B, C, H, W] -> [B, N, C P P].
Tensor VisionTransformer::cut(const Tensor& pictures) const {
  const auto [C, H, W] = config_.sizes.picture;
  const std::int64_t P = config_.patch, B = pictures.size(0);
  const Tensor x = reshape(pictures, {B, C, H / P, P, W / P, P});
  return reshape(permute(x, {0, 2, 4, 1, 3, 5}), {B, config_.patches(), C * P * P});
}

Tensor VisionTransformer::operator()(const Tensor& pictures,
                                     std::vector<LayerWeights>* weights) const {
  check_pictures("vision_transformer", config_.sizes.picture, pictures);
  Tensor x = patches(cut(pictures));  // [B, N, E]
  if (position) x = position->embed(x);
  x = encoder({.x = dropout(x)}, weights);  // [B, N, E]
  return scores(mean(x, {1}));              // [B, C]
}

}  // namespace heed
