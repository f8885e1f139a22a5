// A residual network for small pictures (He et al. 2016, section 4.2): a 3x3 convolution, three
// stages of residual blocks (residual_blocks.h) with `stem`, 2 and 4 times as many channels at
// full, half and quarter size, the mean over places, and a linear layer. With `attention`, a
// non-local block (Wang et al. 2018) follows the first block of the second stage.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/models/picture_sizes.h"
#include "heed/models/residual_blocks.h"
#include "heed/nn/linear.h"

namespace heed {

struct ResNetConfig {
  PictureSizes sizes = {};
  std::int64_t stem = 16;                         // channels of the first stage
  std::int64_t blocks = 3;                        // of a stage; 3 make a ResNet-20
  std::optional<AttentionChoice> attention = {};  // a mechanism for pictures, or none

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& all) { sizes.set(all); }
  /// Every attention of the model.
  std::vector<AttentionChoice> attentions() const;
};

/// Parameters "conv", "norm", "blocks.0" …, "attention" and "scores".
class ResNet : public PictureModel {
 public:
  using Config = ResNetConfig;
  explicit ResNet(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Tensor& pictures,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t classes() const override { return config_.sizes.classes; }
  PictureSize picture() const override { return config_.sizes.picture; }

  Conv2d conv;
  BatchNorm norm;
  std::vector<ResidualBlock> blocks;
  std::unique_ptr<AttentionLayer> attention;  // or null
  Linear scores;

 private:
  Config config_;
};

inline constexpr ModelKind kResNet = model_kind<ResNet>(
    "resnet", "recognise: a residual network, with a non-local block if wanted", Task::recognise);

}  // namespace heed
