// A captioner (Show, Attend and Tell, Xu et al. 2015): a convolutional network turns a picture into
// a grid of cells, and a recurrent decoder writes a text about it, one word after another, with
// attention to the cells. The decoder is that of recurrent translators (recurrent_decoder.h), so
// attention may be soft ("bahdanau"), "hard", "gumbel", or another mechanism that reads a memory.
//
//   cells = residual blocks(picture) + places       places are learned, one vector for each cell
//   s_0   = tanh(W mean(cells) + b)                 one W for each layer; LSTM: another for its
//   cell
#pragma once

#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/recurrent_decoder.h"
#include "heed/models/residual_blocks.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"

namespace heed {

struct CaptionerConfig {
  PictureSize picture = {};
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t stride = 2;  // of the first convolution
  ResidualStages encoder = {.channels = 16, .stages = 3, .blocks = 1};
  RecurrentDecoderConfig decoder = {.embed = 64, .hidden = 128};
  double dropout = 0.0;  // of embeddings and between layers

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  std::vector<AttentionChoice> attentions() const;

  /// Features of a cell.
  std::int64_t cell_size() const { return encoder.channels << (encoder.stages - 1); }
  /// Rows and columns of the cells.
  std::array<std::int64_t, 2> cells() const;
  /// The decoder's config with what follows from the other keys.
  RecurrentDecoderConfig decoder_config() const;
};

/// Parameters "conv", "norm", "blocks.0" … (the encoder), "places" [S, E], "state_bridge.0" …,
/// "cell_bridge.0" … (LSTM), "target" (embeddings), "decoder" and "output".
class Captioner : public CaptionModel {
 public:
  using Config = CaptionerConfig;
  explicit Captioner(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Memory encode(const Tensor& pictures) const override;
  /// `weights` receives one entry if there is attention, else none.
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const override;
  std::unique_ptr<Decoding> start(const Memory& memory) const override;
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  PictureSize picture() const override { return config_.picture; }
  std::array<std::int64_t, 2> cells() const override { return config_.cells(); }

  Conv2d conv;
  BatchNorm norm;
  std::vector<ResidualBlock> blocks;
  Tensor places;
  std::vector<Linear> state_bridge, cell_bridge;
  Embedding target;
  Dropout dropout;
  RecurrentDecoder decoder;
  OutputLayer output;

 private:
  Tensor embed(const Tensor& ids) const { return dropout(target(ids)); }

  Config config_;
};

inline constexpr ModelKind kCaptioner = model_kind<Captioner>(
    "captioner", "caption: a convolutional network and a recurrent decoder with attention",
    Task::caption);

}  // namespace heed
