// What models do, whatever they are made of: one interface for each task. generation/ and training/
// know models through these; kinds.h lists the models.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "heed/io/codec.h"
#include "heed/models/decoding.h"
#include "heed/models/lora.h"
#include "heed/models/output_layer.h"
#include "heed/models/pooling.h"
#include "heed/nn/module.h"

namespace heed {

/// The tasks that models are trained for.
enum class Task : std::uint8_t { translate, language, classify, embed, fill };

/// The names that configs use.
constexpr std::array<io::EnumName<Task>, 5> enum_names(Task) {
  return {{{Task::translate, "translate"},
           {Task::language, "language"},
           {Task::classify, "classify"},
           {Task::embed, "embed"},
           {Task::fill, "fill"}}};
}

class ModelChoice;

/// A model of the list.
class Model : public Module {
 public:
  /// The kind of the model and its config.
  virtual ModelChoice choice() const = 0;

  /// Adds adapters, which alone are trained then (lora.h).
  void adapt(const LoraConfig& config, Generator& generator);
  /// Adds the adapters to the matrices that they correct and removes them.
  void merge_adapters();
  /// The adapters; rank 0: there are none.
  const LoraConfig& lora() const { return lora_; }

 private:
  LoraConfig lora_;
};

/// The encoder's output.
struct Memory {
  Tensor states;   ///< [B, S, E].
  Tensor lengths;  ///< i64 [B]: valid positions; undefined: all.

  /// Sequence i becomes what sequence from[i] was.
  void reorder(std::span<const std::int64_t> from);
};

/// Task::translate: reads a source and predicts the tokens of a target.
class TranslationModel : public Model {
 public:
  /// ids [B, S], lengths i64 [B]. `weights`, if not null, receives one entry per layer.
  virtual Memory encode(const Tensor& source, const Tensor& lengths = {},
                        std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// The target so far, ids [B, T] -> [B, T, E].
  virtual Tensor decode(const Tensor& target, const Memory& memory,
                        std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Starts to decode token by token. The model must outlive the result.
  virtual std::unique_ptr<Decoding> start(const Memory& memory,
                                          Stepping stepping = Stepping::automatic) const = 0;
  /// Scores (logits) of the next token, and their loss.
  virtual const OutputLayer& output_layer() const = 0;

  virtual std::int64_t source_vocabulary() const = 0;
  virtual std::int64_t target_vocabulary() const = 0;
  /// The most tokens of a source and of a target.
  virtual std::int64_t max_source() const = 0;
  virtual std::int64_t max_target() const = 0;
};

/// Task::language: predicts the next token of a text.
class CausalModel : public Model {
 public:
  /// ids [B, T] -> [B, T, E]; `weights`, if not null, receives one entry per layer.
  virtual Tensor operator()(const Tensor& ids,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Starts to decode token by token. The model must outlive the result.
  virtual std::unique_ptr<Decoding> start(std::int64_t batch) const = 0;
  /// Scores (logits) of the next token, and their loss.
  virtual const OutputLayer& output_layer() const = 0;

  virtual std::int64_t vocabulary() const = 0;
  /// The most tokens of a text.
  virtual std::int64_t max_length() const = 0;
};

/// Texts as models without decoder read them.
struct TextBatch {
  Tensor ids;           ///< [B, T].
  Tensor lengths = {};  ///< i64 [B]: valid positions; undefined: all of T.
  Tensor types = {};    ///< [B, T]: types of the tokens; undefined: all 0. Some models have none.
};

/// Task::classify: labels a text.
class ClassificationModel : public Model {
 public:
  /// Scores (logits) of the classes [B, C]. `weights`, if not null, receives one entry per layer.
  virtual Tensor operator()(const TextBatch& batch,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;

  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t classes() const = 0;
  /// The most tokens of a text.
  virtual std::int64_t max_length() const = 0;
};

/// Task::embed: turns a text into a vector.
class EncodingModel : public Model {
 public:
  /// The states of the positions [B, T, E]. `weights`, if not null, receives one entry per layer.
  virtual Tensor states(const TextBatch& batch,
                        std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// The vectors of texts [B, E'], from their states [B, T, E] and lengths.
  virtual Tensor vectors(const Tensor& states, const Tensor& lengths,
                         const VectorOptions& options = {}) const = 0;

  virtual std::int64_t vocabulary() const = 0;
  /// Features of a vector, E'.
  virtual std::int64_t vector_size() const = 0;
  /// The most tokens of a text.
  virtual std::int64_t max_length() const = 0;
};

/// Task::fill: predicts masked tokens of a text.
class FillingModel : public Model {
 public:
  /// The states [B, T, E] that the output layer scores. `weights`, if not null, receives one entry
  /// per layer.
  virtual Tensor operator()(const TextBatch& batch,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Scores (logits) of the token at a position, and their loss.
  virtual const OutputLayer& output_layer() const = 0;

  virtual std::int64_t vocabulary() const = 0;
  /// The most tokens of a text.
  virtual std::int64_t max_length() const = 0;
};

}  // namespace heed
