// A model as a scheduler runs it: it starts sequences, from sources that an encoder reads or from
// nothing, and decodes them token by token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/models/model.h"

namespace heed {

/// Sequences that begin.
struct StartedSequences {
  std::unique_ptr<Decoding> decoding;
  /// The encoder's weights of each sequence [1, H, S, S], if all weights are observed.
  std::vector<std::vector<LayerWeights>> encoder = {};
};

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  using Source = std::span<const std::int32_t>;

  /// Starts one sequence for each source.
  virtual StartedSequences start(std::span<const Source> sources) const = 0;
  /// Whether sequences with different sources start together. If not, each starts by itself.
  virtual bool starts_together() const = 0;
  virtual const OutputLayer& output_layer() const = 0;
  /// Bytes that decoding keeps for one sequence of so many source and own positions.
  virtual std::int64_t cache_bytes(std::int64_t source, std::int64_t positions) const = 0;
  /// The most tokens of a source and of a sequence.
  virtual std::int64_t max_source() const = 0;
  virtual std::int64_t max_positions() const = 0;
  /// The attention weights that decoding records.
  virtual ObservedWeights observed() const { return ObservedWeights::none; }
};

/// The sequences of a translation model, which must outlive the result.
struct TranslationSequences {
  std::int32_t padding = 0;  ///< The token that fills rows of sources.
  Stepping stepping = Stepping::automatic;
  CacheForm cache = CacheForm::f32;
  ObservedWeights observed = ObservedWeights::none;
};
std::unique_ptr<SequenceModel> sequences_of(const TranslationModel& model,
                                            const TranslationSequences& options);
/// The sequences of a language model, which must outlive the result.
std::unique_ptr<SequenceModel> sequences_of(const CausalModel& model,
                                            CacheForm cache = CacheForm::f32);

}  // namespace heed
