// The convolutional translator, ConvS2S (Gehring et al. 2017): encoder and decoder are stacks of
// convolutions with gated linear units and residual sums, and every layer of the decoder attends to
// the source:
//
//   h' = (GLU(conv(h)) + h) sqrt(1/2)                                    encoder
//   y = GLU(conv(h)),  c = attention((W y + e) sqrt(1/2)),
//   h' = ((y + V c) sqrt(1/2) + h) sqrt(1/2)                             decoder
//
// with e the embedding of the position. Keys are the encoder's states z, values (z + e) sqrt(1/2).
// A position of the decoder sees the last `kernel` positions of the layer below, so that decoding
// keeps kernel - 1 of them. Weight normalisation is left out, as is the scale of contexts by the
// source's length.
#pragma once

#include <optional>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/text_embedding.h"
#include "heed/models/tied.h"

namespace heed {

struct ConvolutionalTranslatorConfig {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t embed = 256;
  std::int64_t hidden = 512;
  std::int64_t encoder_layers = 10;
  std::int64_t decoder_layers = 10;
  std::int64_t kernel = 3;
  PositionChoice positions = "learned max_length=1024";
  double dropout = 0.1;           // of embeddings, the inputs of convolutions, and the output
  bool shared_attention = false;  // W and V are those of all layers
  Tied tied = Tied::none;
  bool output_bias = true;

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// The dot products of the decoder are no mechanism of the registry.
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// A stack of gated convolutions between two linear maps. Parameters "expand", "reduce" and
/// "convs.0" …, whose weights are [2 H, kernel * H], the first position of the window first.
class ConvolutionStack : public Module {
 public:
  struct Sizes {
    std::int64_t embed, hidden, layers, kernel;
  };
  ConvolutionStack(const Sizes& sizes, double dropout, Generator& generator);

  void visit(ParameterVisitor& visitor) override;
  /// One gated convolution: T + kernel - 1 positions -> T positions.
  Tensor convolve(std::size_t layer, const Tensor& x) const;
  /// Zeros [B, count, H], to put before or after x [B, T, H].
  Tensor blank(const Tensor& x, std::int64_t count) const;
  std::int64_t kernel() const { return kernel_; }

  Linear expand, reduce;
  std::vector<Linear> convs;
  Dropout dropout;

 private:
  std::int64_t kernel_;
};

/// Parameters "source", "target" (embeddings with positions), "encoder", "decoder", "query" and
/// "context" (W and V, one per layer or one for all), "output".
class ConvolutionalTranslator : public TranslationModel {
 public:
  using Config = ConvolutionalTranslatorConfig;
  explicit ConvolutionalTranslator(const Config& config,
                                   Generator& generator = default_generator());

  /// What decoding keeps: the last kernel - 1 inputs of each layer, [B, kernel - 1, H].
  using Windows = std::vector<Tensor>;

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// The encoder has no attention, so `weights` becomes empty.
  Memory encode(const Tensor& source, const Tensor& lengths = {},
                std::vector<LayerWeights>* weights = nullptr) const override;
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const override;
  std::unique_ptr<Decoding> start(const Memory& memory, Stepping stepping = Stepping::automatic,
                                  CacheForm cache = CacheForm::f32) const override;
  /// The memory is kept as the encoder gives it, in f32, and shared by all layers.
  std::int64_t cache_bytes(std::int64_t sources, std::int64_t targets,
                           CacheForm cache) const override;
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t source_vocabulary() const override { return config_.source_vocabulary; }
  std::int64_t target_vocabulary() const override { return config_.target_vocabulary; }
  std::int64_t max_source() const override { return source.max_length(); }
  std::int64_t max_target() const override { return target.max_length(); }
  const Config& config() const { return config_; }

  /// The decoder over embeddings e [B, T, E] that follow the positions in `windows`, which then has
  /// the last ones: [B, T, E]. `weights` as in decode().
  Tensor advance(const Tensor& e, const Memory& memory, Windows& windows,
                 std::vector<LayerWeights>* weights = nullptr) const;
  /// The windows before the first position.
  Windows no_windows(std::int64_t batch, DType dtype) const;

  TextEmbedding source, target;
  ConvolutionStack encoder, decoder;
  std::vector<Linear> query, context;
  OutputLayer output;

 private:
  Config config_;
};

inline constexpr ModelKind kConvolutionalTranslator = model_kind<ConvolutionalTranslator>(
    "convolutional", "translate: ConvS2S, gated convolutions with attention in every layer",
    Task::translate);

}  // namespace heed
