// All settings of `heed train` as one struct, from which the config file, the flags and the
// reference of keys are made.
#pragma once

#include <string>
#include <vector>

#include "heed/data/line_check.h"
#include "heed/data/packed_stream.h"
#include "heed/data/picture_stream.h"
#include "heed/evaluation/bleu_tokenizer.h"
#include "heed/generation/options.h"
#include "heed/models/kinds.h"
#include "heed/tensor/padding.h"
#include "heed/text/sentence_piece_training.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/trainer_config.h"

namespace heed {

enum class VocabularyKind : std::uint8_t { sentencepiece, words, characters };

/// The names that configs use.
constexpr std::array<io::EnumName<VocabularyKind>, 3> enum_names(VocabularyKind) {
  return {{{VocabularyKind::sentencepiece, "sentencepiece"},
           {VocabularyKind::words, "words"},
           {VocabularyKind::characters, "characters"}}};
}

/// How to make a vocabulary if no file is given.
struct VocabularyConfig {
  VocabularyKind kind = VocabularyKind::sentencepiece;
  bool shared = true;  // one for source and target
  std::int64_t size = 8000;
  PieceModel model_type = PieceModel::unigram;
  double character_coverage = 0.9995;
  PieceNormalization normalization = PieceNormalization::nmt_nfkc;
  std::int64_t min_count = 1;  // words, characters

  void fields(io::Fields& field);
};

/// What validation computes besides the loss.
struct ValidationConfig {
  std::vector<std::string> metrics = {"loss", "perplexity"};  // translate: also bleu, chrf
  evaluation::BleuTokenizer tokenizer = evaluation::BleuTokenizer::v13a;
  std::vector<std::string> references = {};  // files; none: the validation set's target
  SearchOptions search = {};

  void fields(io::Fields& field);
};

/// The configs of all kinds of model, one section each.
class ModelSections {
 public:
  ModelSections();
  void fields(io::Fields& field);

  /// The section of a kind.
  const ModelChoice& at(const ModelKind& kind) const;
  /// The typed config of a model class.
  template <typename M>
  typename M::Config& of() {
    for (ModelChoice& section : sections_) {
      if (auto* const config = section.config_of<M>()) return *config;
    }
    HEED_ASSERT(false);
  }
  template <typename M>
  const typename M::Config& of() const {
    return const_cast<ModelSections*>(this)->of<M>();
  }

 private:
  std::vector<ModelChoice> sections_;
};

struct TrainConfig {
  /// Not an aggregate: if memory runs out inside the braces of one, GCC 12 destroys members that
  /// were never made.
  TrainConfig();

  Task task = Task::translate;
  std::string kind = "";                // kind of model; empty: the first of the task
  std::string model;                    // folder to train into
  std::vector<std::string> train_sets;  // source and target, or one file with tabs
  std::vector<std::string> valid_sets;
  std::string start_from =
      "";  // folder of a model to go on from; its config and vocabularies count
  std::vector<std::string> freeze = {};  // names of parameters that are not trained
  LoraConfig lora = {};
  std::vector<std::string> vocabs;  // one for both, or one each; none: made from the training set
  VocabularyConfig vocabulary = {};
  OnBad on_bad = OnBad::stop;
  std::int64_t max_length = 0;  // of either side, in tokens; 0: no limit
  double max_ratio = 0.0;       // ratio of the longer side to the shorter; 0: no limit
  std::int64_t batch_tokens = kBatchTokens;
  std::int64_t batch_sentences = 0;
  std::int64_t shuffle_window = kShuffleWindow;  // packed corpora: pairs shuffled together
  std::int64_t block_length = 256;               // language: tokens of a row
  bool aligned_blocks = false;  // language: rows begin at multiples of block_length
  double valid_share =
      0.1;  // language, answer: share of the training set for validation, if no set is given
  PictureOptions pictures = {};
  Augmentation augmentation = {};
  std::optional<double> label_smoothing = {};  // none: 0.1 for translate, otherwise 0
  bool checkpoint_activations = false;         // recompute them in the backward pass
  std::int64_t cpu_threads = 0;                // 0: all
  SampledLossConfig reinforce = {};            // for attention that samples positions
  ValidationConfig validation = {};
  TrainerConfig trainer = {};
  ModelSections models = {};

  void fields(io::Fields& field);
  void validate() const;
  /// The kind of model to train.
  const ModelKind& model_kind() const { return choose_model_kind(task, kind); }
  /// The label smoothing that was given, or the task's default.
  double smoothing() const;
};

}  // namespace heed
