// A Vision Transformer (Dosovitskiy et al. 2021): a picture is cut into square patches, each patch
// becomes a vector by a linear map, and a stack of Transformer layers reads them as a sequence, row
// by row. The scores of the classes come from the mean of the last states.
#pragma once

#include <memory>
#include <vector>

#include "heed/models/picture_sizes.h"
#include "heed/models/stack.h"
#include "heed/nn/linear.h"

namespace heed {

struct VisionTransformerConfig {
  PictureSizes sizes = {};
  std::int64_t patch = 4;  // side of a patch in pixels
  std::int64_t layers = 6;
  BlockConfig block = default_block();

  /// A small encoder: pre-norm, GELU, learned positions.
  static BlockConfig default_block();

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& all) { sizes.set(all); }
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const { return block.self_attentions(); }
  std::int64_t patches() const {
    return (sizes.picture.height / patch) * (sizes.picture.width / patch);
  }
};

/// Parameters "patches" (the map of a patch), "position", "encoder" (a stack) and "scores".
class VisionTransformer : public PictureModel {
 public:
  using Config = VisionTransformerConfig;
  explicit VisionTransformer(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Tensor& pictures,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t classes() const override { return config_.sizes.classes; }
  PictureSize picture() const override { return config_.sizes.picture; }

  Linear patches;
  std::unique_ptr<Position> position;  // or null
  Dropout dropout;
  Stack encoder;
  Linear scores;

 private:
  Tensor cut(const Tensor& pictures) const;

  Config config_;
};

inline constexpr ModelKind kVisionTransformer = model_kind<VisionTransformer>(
    "vision_transformer", "recognise: Transformer layers over patches of a picture",
    Task::recognise);

}  // namespace heed
