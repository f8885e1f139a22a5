// A translator: a model of translation with the tokenizers of both sides.
//
//   const Translator translator = load_translator("model");  // model_folder.h
//   translator.translate({"A dog runs."}, {.beam_size = 5})[0][0].text;
//
// A model of several languages needs to know which: translator.between("en", "fr").
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/generation/origin.h"
#include "heed/generation/request.h"
#include "heed/generation/scheduler_options.h"
#include "heed/generation/sequence_model.h"
#include "heed/generation/shortlist.h"
#include "heed/generation/translation_format.h"
#include "heed/models/model.h"
#include "heed/tensor/padding.h"
#include "heed/text/copy_table.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct FolderFormat;

/// The format of folders of translators (folder_format.h).
extern const FolderFormat kTranslatorFolder;

/// One translation of a sentence.
struct Translation {
  std::string text;
  Hypothesis hypothesis;
};

struct TranslateOptions {
  SearchOptions search = {};
  SchedulerOptions scheduling = {};
  Stepping stepping = Stepping::automatic;
  /// The attention weights that hypotheses keep, from the pass that writes them.
  ObservedWeights observed = ObservedWeights::none;
  std::function<void()> on_step = {};  // before each step of a search; may end it by throwing
  std::string prefix = {};             // results of translate() begin with it
};

class Translator {
 public:
  /// Tokenizers of equal content may be one.
  Translator(std::shared_ptr<TranslationModel> model, std::shared_ptr<const Tokenizer> source,
             std::shared_ptr<const Tokenizer> target);
  /// A model of another program, which may have more tokens than its tokenizers.
  Translator(std::shared_ptr<TranslationModel> model, std::shared_ptr<const Tokenizer> source,
             std::shared_ptr<const Tokenizer> target, TranslationFormat format);

  /// The same translator, with the same model, between two languages; "": as it is.
  Translator between(std::string_view source, std::string_view target) const;

  /// The same translator, with the same model, that chooses among the candidates of a list; null:
  /// among all tokens.
  Translator with_shortlist(std::shared_ptr<const Shortlist> shortlist) const;

  /// The n best translations of each sentence, in the order given. A sentence without tokens has
  /// one translation, which is empty.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> sentences,
                                                  const TranslateOptions& options = {}) const;
  /// A source as returned by read(), the random numbers it draws from when sampling, and the tokens
  /// that its results begin with.
  struct Source {
    std::vector<std::int32_t> tokens;
    std::uint64_t stream = 0;
    std::vector<std::int32_t> prefix = {};
    std::shared_ptr<const CopiedWords> copied = {};  ///< Of a model that copies: copied().
  };
  /// The results of the search for sources. Results end where the model's positions do.
  std::vector<NBest> search_batch(std::span<const Source> sources,
                                  const TranslateOptions& options) const;

  /// The model as a scheduler runs it, which must not outlive this translator.
  std::unique_ptr<SequenceModel> sequences(const TranslateOptions& options) const;
  /// What searches with these options have in common.
  std::shared_ptr<const SearchPlan> plan(const TranslateOptions& options) const;
  /// The request of a scheduler for the results of a source that is not empty.
  Request request_of(Source source, std::shared_ptr<const SearchPlan> plan) const;
  /// The results of a scheduler with their texts, and with all observed weights.
  std::vector<Translation> translations_of(std::span<const std::int32_t> source, NBest found,
                                           const TranslateOptions& options) const;

  /// A sentence as the model reads it: its tokens, the end token, and the language if the model
  /// needs one.
  std::vector<std::int32_t> read(std::string_view sentence) const;
  /// The tokens of a translation as those of results are: without end, but with a forced language.
  std::vector<std::int32_t> read_result(std::string_view text) const;
  /// The same with words of the source, if there are any.
  std::vector<std::int32_t> read_result(std::string_view text, const CopiedWords* copied) const;
  /// The text of the tokens of a result.
  std::string text_of(std::span<const std::int32_t> tokens) const;
  /// The text of a result, with the words that it has from its source.
  std::string text_of(const Hypothesis& result) const;
  /// How the model matches words of both sides, if it copies; else null.
  const CopyTable* copies() const { return copies_.get(); }
  /// The words of a sentence, whose tokens are those of read() or the first of them with the same
  /// special tokens; null unless the model copies.
  std::shared_ptr<const CopiedWords> copied(std::string_view sentence,
                                            std::span<const std::int32_t> tokens) const;
  /// Whether a source, as returned by read(), has no tokens of its own.
  bool is_empty(std::span<const std::int32_t> source) const {
    return std::ssize(source) <= frame_.around();
  }

  const TranslationFormat& format() const { return format_; }
  std::shared_ptr<Origin> origin = {};  ///< Of an imported model; null: of heed's own.
  /// The special tokens around sources and results.
  const TranslationFrame& frame() const { return frame_; }
  TranslationModel& model() { return *model_; }
  const TranslationModel& model() const { return *model_; }
  const std::shared_ptr<const Tokenizer>& source() const { return source_; }
  const std::shared_ptr<const Tokenizer>& target() const { return target_; }

 private:
  std::vector<std::int32_t> candidates_of(std::span<const std::int32_t> source) const;

  std::shared_ptr<TranslationModel> model_;
  std::shared_ptr<const Tokenizer> source_, target_;
  TranslationFormat format_;
  TranslationFrame frame_;                      // of the languages chosen
  std::shared_ptr<const Shortlist> shortlist_;  // null: all tokens are candidates
  std::shared_ptr<const CopyTable> copies_;     // null: the model copies nothing
};

}  // namespace heed
