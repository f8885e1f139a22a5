// A translator: a model of translation with the tokenizers of both sides.
//
//   const Translator translator = load_translator("model");  // model_folder.h
//   translator.translate({"A dog runs."}, {.beam_size = 5})[0][0].text;
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/models/model.h"
#include "heed/tensor/padding.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// One translation of a sentence.
struct Translation {
  std::string text;
  Hypothesis hypothesis;
};

struct TranslateOptions {
  SearchOptions search = {};
  std::int64_t batch_tokens = kBatchTokens;  // sources of a batch, padding included
  Stepping stepping = Stepping::automatic;
  /// The attention weights that hypotheses keep, from the pass that writes them.
  ObservedWeights observed = ObservedWeights::none;
  std::function<void()> on_step = {};  // before each step of a search; may end it by throwing
};

class Translator {
 public:
  /// Tokenizers of equal content may be one.
  Translator(std::unique_ptr<TranslationModel> model, std::shared_ptr<const Tokenizer> source,
             std::shared_ptr<const Tokenizer> target);

  /// The n best translations of each sentence, in the order given. A sentence without tokens has
  /// one translation, which is empty.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> sentences,
                                                  const TranslateOptions& options = {}) const;
  /// A source as tokens, end included, and the random numbers it draws from when sampling.
  struct Source {
    std::vector<std::int32_t> tokens;
    std::uint64_t stream = 0;
  };
  /// The same for one batch of sources.
  std::vector<std::vector<Translation>> translate_batch(std::span<const Source> sources,
                                                        const TranslateOptions& options) const;
  /// The results of the search for one batch of sources. Results end where the model's positions
  /// do.
  std::vector<NBest> search_batch(std::span<const Source> sources,
                                  const TranslateOptions& options) const;

  /// A sentence as the model reads it: its tokens and the end token.
  std::vector<std::int32_t> read(std::string_view sentence) const;

  TranslationModel& model() { return *model_; }
  const TranslationModel& model() const { return *model_; }
  const std::shared_ptr<const Tokenizer>& source() const { return source_; }
  const std::shared_ptr<const Tokenizer>& target() const { return target_; }

 private:
  std::unique_ptr<TranslationModel> model_;
  std::shared_ptr<const Tokenizer> source_, target_;
};

}  // namespace heed
