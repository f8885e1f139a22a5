#include "heed/models/residual_blocks.h"

namespace heed {

Conv2d same_conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                 Generator& generator) {
  return Conv2d({.in = in,
                 .out = out,
                 .kernel = kernel,
                 .stride = stride,
                 .padding = kernel / 2,
                 .bias = false},
                generator);
}

ResidualBlock::ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride,
                             Generator& generator)
    : conv1(same_conv(in, out, 3, stride, generator)),
      conv2(same_conv(out, out, 3, 1, generator)),
      norm1({.channels = out}),
      norm2({.channels = out}) {
  if (in == out && stride == 1) return;
  shortcut.emplace(same_conv(in, out, 1, stride, generator));
  shortcut_norm.emplace(BatchNormConfig{.channels = out});
}

void ResidualBlock::visit(ParameterVisitor& visitor) {
  visitor("conv1", conv1);
  visitor("norm1", norm1);
  visitor("conv2", conv2);
  visitor("norm2", norm2);
  visitor("shortcut", shortcut);
  visitor("shortcut_norm", shortcut_norm);
}

Tensor ResidualBlock::operator()(const Tensor& x) const {
  const Tensor y = conv2(norm1.with_relu(conv1(x)));                       // [B, out, H', W']
  const Tensor skipped = shortcut ? (*shortcut_norm)((*shortcut)(x)) : x;  // [B, out, H', W']
  return norm2.with_relu(y, skipped);
}

std::vector<ResidualBlock> residual_blocks(const ResidualStages& config, Generator& generator) {
  std::vector<ResidualBlock> blocks;
  std::int64_t channels = config.channels;
  for (std::int64_t stage = 0; stage < config.stages; ++stage) {
    const std::int64_t out = config.channels << stage;
    for (std::int64_t i = 0; i < config.blocks; ++i) {
      const bool halves = stage > 0 && i == 0;
      blocks.emplace_back(channels, out, halves ? 2 : 1, generator);
      channels = out;
    }
  }
  return blocks;
}

}  // namespace heed
