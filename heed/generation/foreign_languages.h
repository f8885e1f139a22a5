// The languages of translators of other programs: which tokens name them, and where the models
// expect these tokens.
#pragma once

#include <string_view>

#include "heed/generation/translation_format.h"

namespace heed {

/// What a folder says about its tokenizer.
struct ForeignTokenizer {
  std::string kind = {};  ///< "tokenizer_class", without "Fast"; "" if it does not say.
  std::string source_language = {}, target_language = {};
  /// Of NLLB: the source's language comes after the source, as in its first releases.
  bool is_legacy = false;
};

/// The languages among the tokens of a vocabulary, by the tokenizers that transformers has: M2M100
/// (__fr__), NLLB (fra_Latn), mBART and mBART-50 (fr_XX), Marian (>>fra<<). If the folder does not
/// name its tokenizer, the tokens tell. None if there are no languages to choose from.
LanguageTable find_languages(const Tokenizer& tokenizer, const ForeignTokenizer& about);

}  // namespace heed
