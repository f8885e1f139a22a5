// A translator: the Transformer with the tokenizers of both sides, as it lies in a folder.
//
//   const Translator translator = load_translator("model");
//   translator.translate({"A dog runs."}, {.beam_size = 5})[0][0].text;
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/generation/transformer_steps.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// One way to say a sentence in the other language.
struct Translation {
  std::string text;
  Hypothesis hypothesis;
};

struct TranslateOptions {
  SearchOptions search = {};
  std::int64_t batch_tokens = 4096;  // sources of a batch, padding included
  Stepping stepping = Stepping::automatic;
  std::function<void()> on_step = {};  // before each step of a search; may end it by throwing
};

class Translator {
 public:
  /// Tokenizers of equal content may be one.
  Translator(Transformer model, std::shared_ptr<const Tokenizer> source,
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
  /// What the search finds for one batch of sources. Results end where the model's positions do.
  std::vector<NBest> search_batch(std::span<const Source> sources,
                                  const TranslateOptions& options) const;
  /// What positions attend to when these tokens are written for those: [1, H, T, Tk] a layer. The
  /// source ends with the end token, the target begins with begin.
  TransformerWeights weights(std::span<const std::int32_t> source,
                             std::span<const std::int32_t> target) const;

  /// A sentence as the model reads it: its tokens and the end token.
  std::vector<std::int32_t> read(std::string_view sentence) const;

  Transformer& model() { return model_; }
  const Transformer& model() const { return model_; }
  const std::shared_ptr<const Tokenizer>& source() const { return source_; }
  const std::shared_ptr<const Tokenizer>& target() const { return target_; }

 private:
  Transformer model_;
  std::shared_ptr<const Tokenizer> source_, target_;
};

/// Writes config.json, model.safetensors and the tokenizers' files into a folder that exists.
void save_translator(const Translator& translator, const std::filesystem::path& folder);
/// Reads what save_translator() has written, ready for use (not for training). The folder of a
/// whole training run will do: find_model().
Translator load_translator(const std::filesystem::path& place);

}  // namespace heed
