// Translators, language models and classifiers too small to be of use, with vocabularies of a few
// words.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/generation/translator.h"
#include "heed/text/characters.h"
#include "heed/text/words.h"

namespace heed::test {

inline std::shared_ptr<const Tokenizer> letters(std::string_view text = "abcdefgh ") {
  return std::make_shared<Characters>(count_characters(text));
}

inline std::shared_ptr<const Tokenizer> words(std::string_view text) {
  TokenCounter counter;
  for (const std::string_view word : split_at_spaces(text)) counter.add(word);
  return std::make_shared<Words>(counter.vocabulary());
}

/// Random parameters, in use; tied if the tokenizers are one.
inline Translator tiny_translator(const std::shared_ptr<const Tokenizer>& source,
                                  const std::shared_ptr<const Tokenizer>& target,
                                  std::uint64_t seed = 3) {
  Generator generator(seed);
  Transformer model({.source_vocabulary = source->size(),
                     .target_vocabulary = target->size(),
                     .padding = target->special().padding,
                     .embed = 16,
                     .heads = 2,
                     .hidden = 20,
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .dropout = 0.1,
                     .tied = source == target ? Tied::three : Tied::two},
                    generator);
  model.eval();
  return {std::move(model), source, target};
}

}  // namespace heed::test
