// Small untrained translators, with vocabularies of a few words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "heed/generation/translator.h"
#include "heed/models/transformer.h"
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

/// The config of a small translator; tied if the tokenizers are one.
inline TransformerConfig tiny_config(const std::shared_ptr<const Tokenizer>& source,
                                     const std::shared_ptr<const Tokenizer>& target) {
  return {.source_vocabulary = source->size(),
          .target_vocabulary = target->size(),
          .padding = target->special().padding,
          .encoder_layers = 1,
          .decoder_layers = 1,
          .block = {.embed = 16, .heads = 2, .hidden = 20, .dropout = 0.1},
          .tied = source == target ? Tied::three : Tied::two};
}

/// Random parameters, in evaluation mode.
inline Translator tiny_translator(const TransformerConfig& config,
                                  const std::shared_ptr<const Tokenizer>& source,
                                  const std::shared_ptr<const Tokenizer>& target,
                                  std::uint64_t seed = 3) {
  Generator generator(seed);
  auto model = std::make_unique<Transformer>(config, generator);
  model->eval();
  return {std::move(model), source, target};
}

inline Translator tiny_translator(const std::shared_ptr<const Tokenizer>& source,
                                  const std::shared_ptr<const Tokenizer>& target,
                                  std::uint64_t seed = 3) {
  return tiny_translator(tiny_config(source, target), source, target, seed);
}

}  // namespace heed::test
