// Residual blocks of convolutions (He et al. 2016), for networks that read small pictures:
//
//   y = relu(norm(conv(relu(norm(conv(x))))) + shortcut(x))
//
// with batch norms; the shortcut is x, or a 1x1 convolution of it where the size changes.
#pragma once

#include <optional>
#include <vector>

#include "heed/nn/batch_norm.h"
#include "heed/nn/conv.h"

namespace heed {

/// A residual block. Parameters "conv1", "norm1", "conv2", "norm2" and, if the size changes,
/// "shortcut" and "shortcut_norm".
class ResidualBlock : public Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride, Generator& generator);

  void visit(ParameterVisitor& visitor) override;
  /// [B, in, H, W] -> [B, out, H / stride, W / stride].
  Tensor operator()(const Tensor& x) const;

  Conv2d conv1, conv2;
  BatchNorm norm1, norm2;
  std::optional<Conv2d> shortcut;
  std::optional<BatchNorm> shortcut_norm;
};

/// Stages of residual blocks.
struct ResidualStages {
  std::int64_t channels = 16;  // of the input and of the first stage; each stage has twice as many
  std::int64_t stages = 3;     // each but the first halves the sides
  std::int64_t blocks = 3;     // of each stage
};

/// The blocks of all stages, one after another.
std::vector<ResidualBlock> residual_blocks(const ResidualStages& config, Generator& generator);

/// A convolution without bias whose result has the size of its input divided by the stride,
/// rounded up. The norm after it has the bias.
Conv2d same_conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                 Generator& generator);

}  // namespace heed
