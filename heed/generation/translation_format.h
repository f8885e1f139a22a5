// How a translator reads sources and writes results: the special tokens around them, the languages
// to choose from, the tokens that are never chosen, and the options of searches that it was
// published with. Translators that heed has trained have none of these but an end token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/options.h"
#include "heed/generation/plan.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// The special tokens of sources and results.
struct TranslationFrame {
  std::vector<std::int32_t> before = {};  ///< Before the tokens of a source.
  std::vector<std::int32_t> after = {};   ///< After them.
  std::int32_t start = 1;                 ///< What the decoder reads first.
  std::vector<std::int32_t> forced = {};  ///< The first tokens of every result.

  bool lacks_target = false;  ///< Results need a language, and none is chosen.

  /// The number of tokens around those of a source.
  std::int64_t around() const { return std::ssize(before) + std::ssize(after); }
};

/// A language that a model knows, and the token that names it.
struct Language {
  std::string name;
  std::int32_t token = 0;
};

/// Where models put the token of the source's language.
enum class SourceLanguage : std::uint8_t {
  none,
  before,  ///< Before the source.
  after,   ///< After the source and its end token.
};
/// Where models put the token of the target's language.
enum class TargetLanguage : std::uint8_t {
  none,
  forced,  ///< It is the first token of results.
  start,   ///< The decoder reads it first.
  source,  ///< Before the source.
};

struct LanguageTable {
  std::vector<Language> all = {};  ///< Sorted by name.
  SourceLanguage source_place = SourceLanguage::none;
  TargetLanguage target_place = TargetLanguage::none;
  std::string source = {}, target = {};  ///< Those of the model if none is chosen; "": none.

  /// The token of a language. The error for an unknown name lists the nearest ones.
  std::int32_t find(std::string_view name) const;
};

struct TranslationFormat {
  TranslationFrame frame = {};  ///< Without languages.
  LanguageTable languages = {};
  SpecialTokens special = {};            ///< Those of results: never chosen, except the end.
  std::vector<std::int32_t> ends = {2};  ///< The tokens that end a result.
  std::vector<std::int32_t> never = {};  ///< More tokens that are never chosen.
  std::vector<std::vector<std::int32_t>> never_sequences = {};  ///< The same of several tokens.
  // As in SearchPlan.
  bool is_cut = false, is_end_certain = false, renormalised = false;
  SearchOptions search = {};  ///< Unless the caller says otherwise.
};

/// The format of translators that heed trains.
TranslationFormat plain_format(const Tokenizer& source, const Tokenizer& target);

/// The special tokens for a choice of languages; "": that of the model. Throws if the model does
/// not know a language, or needs one that is not given.
TranslationFrame frame_for(const TranslationFormat& format, std::string_view source,
                           std::string_view target);

/// A search for translations.
SearchPlan plan_for(const TranslationFormat& format, const SearchOptions& options);

}  // namespace heed
