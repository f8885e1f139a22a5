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
enum class Task : std::uint8_t {
  translate,
  language,
  classify,
  embed,
  fill,
  recognise,
  point,
  copy,
  read,
  answer,
  caption,
};

/// The names that configs use.
constexpr std::array<io::EnumName<Task>, 11> enum_names(Task) {
  return {{{Task::translate, "translate"},
           {Task::language, "language"},
           {Task::classify, "classify"},
           {Task::embed, "embed"},
           {Task::fill, "fill"},
           {Task::recognise, "recognise"},
           {Task::point, "point"},
           {Task::copy, "copy"},
           {Task::read, "read"},
           {Task::answer, "answer"},
           {Task::caption, "caption"}}};
}

class ModelChoice;

/// A model of the list.
class Model : public Module {
 public:
  /// The kind of the model and its config.
  virtual ModelChoice choice() const = 0;
  /// Whether the model samples what it reads in training, besides the attentions of its config.
  virtual bool samples() const { return false; }

  /// Adds adapters, which alone are trained then (lora.h).
  void adapt(const LoraConfig& config, Generator& generator);
  /// Adds the adapters to the matrices that they correct and removes them.
  void merge_adapters();
  /// The adapters; rank 0: there are none.
  const LoraConfig& lora() const { return lora_; }

 private:
  LoraConfig lora_;
};

/// The encoder's output. Every tensor has the batch first.
struct Memory {
  Tensor states;       ///< [B, S, E].
  Tensor lengths;      ///< i64 [B]: valid positions; undefined: all.
  Tensor values = {};  ///< What attention reads if not the states: [B, S, E] (convolutional).
  Tensor state = {};   ///< What the decoder starts with: [B, layers, H] (recurrent).
  Tensor cell = {};    ///< The same for the cells of an LSTM.

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
                                          Stepping stepping = Stepping::automatic,
                                          CacheForm cache = CacheForm::f32) const = 0;
  /// Bytes that decoding keeps for one sequence of so many source and target tokens.
  virtual std::int64_t cache_bytes(std::int64_t source, std::int64_t target,
                                   CacheForm cache) const = 0;
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
  virtual std::unique_ptr<Decoding> start(std::int64_t batch,
                                          CacheForm cache = CacheForm::f32) const = 0;
  /// Bytes that decoding keeps for one sequence of so many tokens.
  virtual std::int64_t cache_bytes(std::int64_t tokens, CacheForm cache) const = 0;
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

/// The result of a classifier in training.
struct Judged {
  Tensor scores;        ///< Logits of the classes [B, C].
  Tensor penalty = {};  ///< [B], added to the loss of each text; undefined: none.
};

/// Task::classify: labels a text.
class ClassificationModel : public Model {
 public:
  /// Scores (logits) of the classes [B, C]. `weights`, if not null, receives one entry per layer.
  virtual Tensor operator()(const TextBatch& batch,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// The same scores for training, with the model's own term of the loss if it has one.
  virtual Judged judge(const TextBatch& batch) const { return {(*this)(batch)}; }

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

/// The size of the pictures that a model reads.
struct PictureSize {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Task::recognise: labels a picture.
class PictureModel : public Model {
 public:
  /// Scores (logits) of the classes [B, C]; pictures are [B, channels, height, width]. `weights`,
  /// if not null, receives one entry per attention layer.
  virtual Tensor operator()(const Tensor& pictures,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;

  virtual std::int64_t classes() const = 0;
  virtual PictureSize picture() const = 0;
};

/// Task::caption: reads a picture and predicts the tokens of a text about it.
class CaptionModel : public Model {
 public:
  /// The cells of pictures [B, channels, height, width], row by row, as a memory of [B, S, E].
  virtual Memory encode(const Tensor& pictures) const = 0;
  /// The text so far, ids [B, T] -> [B, T, R]. `weights`, if not null, receives one entry per layer
  /// with attention to the cells.
  virtual Tensor decode(const Tensor& target, const Memory& memory,
                        std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Starts to decode token by token. The model must outlive the result.
  virtual std::unique_ptr<Decoding> start(const Memory& memory) const = 0;
  /// Scores (logits) of the next token, and their loss.
  virtual const OutputLayer& output_layer() const = 0;

  virtual std::int64_t vocabulary() const = 0;
  virtual PictureSize picture() const = 0;
  /// Rows and columns of the cells of a picture.
  virtual std::array<std::int64_t, 2> cells() const = 0;
};

/// Sets of elements, each a row of numbers.
struct Elements {
  Tensor numbers;       ///< [B, T, F].
  Tensor lengths = {};  ///< i64 [B]: valid elements; undefined: all of T.
};

/// Task::point: reads a set of elements and points at some of them, one after another. Position 0
/// is the end, position i the i-th element.
class PointingModel : public Model {
 public:
  /// Log-probabilities [B, P, 1 + T] of the positions of each step, if the steps before have
  /// pointed at `pointed`, i64 [B, P], whose last column is not used. `weights`, if not null,
  /// receives one entry per glimpse and one for the pointer.
  virtual Tensor log_probs(const Elements& elements, const Tensor& pointed,
                           std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Starts to point step by step. A step takes the positions pointed at before, [B, 1], at first
  /// 0, and returns log-probabilities [B, 1, 1 + T]. The model must outlive the result.
  virtual std::unique_ptr<Decoding> start(const Elements& elements) const = 0;

  /// Numbers of an element, F.
  virtual std::int64_t features() const = 0;
  /// Whether it points at an element at most once.
  virtual bool points_once() const = 0;
};

/// Task::copy: reads vectors of bits and writes others, as in algorithmic tasks. A vector is read
/// in every step, of 0 while there are others to write.
class BitModel : public Model {
 public:
  /// Scores (logits) of the bits that are written in each step: [B, T, I] -> [B, T, O]. A step
  /// depends only on those before. `weights`, if not null, receives one entry: `self` are those of
  /// reading, [B, heads, T, slots], `cross` those of writing.
  virtual Tensor operator()(const Tensor& x,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;

  /// Bits of a vector that is read, I, and that is written, O.
  virtual std::int64_t inputs() const = 0;
  virtual std::int64_t outputs() const = 0;
};

/// Passages and questions about them.
struct Passages {
  Tensor words;                  ///< ids i64 [B, T].
  Tensor lengths = {};           ///< i64 [B]: valid words; undefined: all of T.
  Tensor questions;              ///< ids i64 [B, S].
  Tensor question_lengths = {};  ///< The same for the questions.
};

/// Task::read: finds the word of a passage that fills the blank of a question.
class ReadingModel : public Model {
 public:
  /// Probabilities [B, T] of the words of the passage, 0 after its end; those of a word that occurs
  /// several times are added (candidate_scores). `weights`, if not null, receives one entry:
  /// `cross` are the weights of the passage's words for the words of the question, [B, 1, S or 1,
  /// T].
  virtual Tensor operator()(const Passages& passages,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;

  virtual std::int64_t vocabulary() const = 0;
};

/// Stories of sentences and questions about them. Rows end in the padding token.
struct Stories {
  Tensor sentences;  ///< ids i64 [B, M, W].
  Tensor ages;       ///< i64 [B, M]: 1 for the last sentence before the question; 0: there is none.
  Tensor questions;  ///< ids i64 [B, S].
};

/// Task::answer: answers questions about stories with one token of the vocabulary.
class AnsweringModel : public Model {
 public:
  /// Scores (logits) of the answers [B, V]. `weights`, if not null, receives one entry per reading
  /// of the memory: `cross` [B, 1, 1, M].
  virtual Tensor operator()(const Stories& stories,
                            std::vector<LayerWeights>* weights = nullptr) const = 0;
  /// Says which epoch, from 0, the next batches of training belong to.
  virtual void begin_epoch(std::int64_t /*epoch*/) {}

  virtual std::int64_t vocabulary() const = 0;
  /// The most sentences of a story, and thereby the greatest age. Those before are forgotten.
  virtual std::int64_t max_sentences() const = 0;
  /// The share of empty sentences that training puts into stories at random (data/stories.h).
  virtual double noise() const { return 0.0; }
};

}  // namespace heed
