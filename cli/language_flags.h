// --source-language and --target-language of verbs that use translators.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heed/generation/translator.h"

namespace heed::cli {

struct LanguageFlags {
  std::string source, target;

  bool any() const { return !source.empty() || !target.empty(); }
  /// The translator between these languages.
  Translator of(const Translator& translator) const {
    return any() ? translator.between(source, target) : translator;
  }
};

inline void add_language_flags(CLI::App& verb, LanguageFlags& flags) {
  verb.add_option("--source-language", flags.source,
                  "the language of the sentences, for models of several");
  verb.add_option("--target-language", flags.target,
                  "the language of the translations, for models of several");
}

}  // namespace heed::cli
