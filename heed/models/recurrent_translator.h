// The recurrent translator (Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015): an
// encoder of GRU or LSTM layers reads the source, in one or both directions, and a recurrent
// decoder writes the target, with attention to the encoder's states or without.
// recurrent_decoder.h has the forms of the decoder.
#pragma once

#include <optional>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/models/recurrent_decoder.h"
#include "heed/models/tied.h"
#include "heed/nn/embedding.h"

namespace heed {

/// How the encoder's final states become the decoder's first ones.
enum class Bridge : std::uint8_t {
  dense,  ///< tanh(W [forward; backward] + b), one W per layer.
  copy,   ///< [forward; backward], unchanged.
  zero,
};

/// The names that configs use.
constexpr std::array<io::EnumName<Bridge>, 3> enum_names(Bridge) {
  return {{{Bridge::dense, "dense"}, {Bridge::copy, "copy"}, {Bridge::zero, "zero"}}};
}

struct RecurrentTranslatorConfig {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  RecurrentDecoderConfig decoder = {};  // the encoder has its cell and its number of layers
  std::int64_t encoder_hidden = 0;      // of one direction; 0: as hidden
  bool bidirectional = true;
  bool reversed_source = false;  // the encoder reads from the last token to the first
  Bridge bridge = Bridge::dense;
  double dropout = 0.0;  // of embeddings and between layers
  Tied tied = Tied::none;
  bool output_bias = true;
  double coverage = 0.0;    // weight of the coverage loss of a model that copies
  double init_range = 0.0;  // parameters begin uniform in ±range; 0: as their layers choose

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  std::vector<AttentionChoice> attentions() const;

  std::int64_t encoder_size() const { return encoder_hidden > 0 ? encoder_hidden : decoder.hidden; }
  /// Features of the encoder's states: of all directions.
  std::int64_t memory_size() const { return encoder_size() * (bidirectional ? 2 : 1); }
  /// The decoder's config with what follows from the other keys.
  RecurrentDecoderConfig decoder_config() const;
};

/// Parameters "source", "target" (embeddings), "encoder" and "decoder" (cells named as in PyTorch),
/// "state_bridge" and "cell_bridge" (one per layer), "output".
class RecurrentTranslator : public TranslationModel, public CopyingModel {
 public:
  using Config = RecurrentTranslatorConfig;
  explicit RecurrentTranslator(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  /// The encoder has no attention, so `weights` becomes empty.
  Memory encode(const Tensor& source, const Tensor& lengths = {},
                std::vector<LayerWeights>* weights = nullptr) const override;
  /// `weights` receives one entry if there is attention, else none.
  Tensor decode(const Tensor& target, const Memory& memory,
                std::vector<LayerWeights>* weights = nullptr) const override;
  bool copies() const override { return config_.decoder.copy; }
  Tensor decode_copying(const Tensor& target, const Memory& memory,
                        CopySteps& copied) const override;
  double coverage_weight() const override { return config_.coverage; }
  std::unique_ptr<Decoding> start(const Memory& memory, Stepping stepping = Stepping::automatic,
                                  CacheForm cache = CacheForm::f32) const override;
  std::int64_t cache_bytes(std::int64_t sources, std::int64_t /*targets*/,
                           CacheForm cache) const override {
    return decoder.cache_bytes(sources, cache);
  }
  const OutputLayer& output_layer() const override { return output; }
  std::int64_t source_vocabulary() const override { return config_.source_vocabulary; }
  std::int64_t target_vocabulary() const override { return config_.target_vocabulary; }
  std::int64_t max_source() const override;
  std::int64_t max_target() const override;
  const Config& config() const { return config_; }

  /// The embeddings of target tokens: [B, T] -> [B, T, E].
  Tensor embed_target(const Tensor& ids) const { return dropout(target(ids)); }

  Embedding source, target;
  Dropout dropout;
  std::unique_ptr<Recurrent> encoder;
  std::vector<Linear> state_bridge, cell_bridge;
  RecurrentDecoder decoder;
  OutputLayer output;

 private:
  Tensor bridge(const Tensor& states, const std::vector<Linear>& maps) const;

  Config config_;
};

inline constexpr ModelKind kRecurrentTranslator = model_kind<RecurrentTranslator>(
    "recurrent", "translate: GRU or LSTM encoder and decoder with attention", Task::translate);

}  // namespace heed
