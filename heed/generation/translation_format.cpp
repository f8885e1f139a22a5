#include "heed/generation/translation_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/io/value.h"

namespace heed {
namespace {

// The names closest to a word, for messages.
std::string nearest_names(std::string_view word, const std::vector<Language>& languages) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string_view> names;
  for (const Language& language : languages) names.push_back(language.name);
  const auto distance = [&](std::string_view name) {
    // Whoever writes "fr" or "french" means "fra_Latn".
    const std::size_t common = std::min({word.size(), name.size(), std::size_t{2}});
    const bool begins_alike = word.substr(0, common) == name.substr(0, common);
    return std::pair(!begins_alike, edit_distance(word, name));
  };
  std::ranges::stable_sort(names, {}, distance);
  names.resize(std::min(names.size(), kShown));
  return fmt::format("{}", fmt::join(names, ", "));
}

// The language to use: the one given, or else the model's.
std::string_view chosen(std::string_view given, const std::string& otherwise) {
  return given.empty() ? std::string_view(otherwise) : given;
}

}  // namespace

std::int32_t LanguageTable::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Language::name);
  HEED_CHECK(found != all.end(),
             "[translate] the model has no language {}: the nearest of its {} are {} (`heed "
             "translate --list-languages` and Translator.languages list all)",
             io::in_quotes(name), all.size(), nearest_names(name, all));
  return found->token;
}

TranslationFormat plain_format(const Tokenizer& source, const Tokenizer& target) {
  const SpecialTokens special = target.special();
  return {.frame = TranslationFrame{.after = {source.special().end}, .start = special.begin},
          .special = special,
          .ends = {special.end}};
}

TranslationFrame frame_for(const TranslationFormat& format, std::string_view source,
                           std::string_view target) {
  const LanguageTable& languages = format.languages;
  HEED_CHECK(source.empty() || languages.source_place != SourceLanguage::none,
             "[translate] source language {}: the model reads one language only, or finds out by "
             "itself; leave the option out",
             io::in_quotes(source));
  HEED_CHECK(target.empty() || languages.target_place != TargetLanguage::none,
             "[translate] target language {}: the model writes one language only; leave the option "
             "out",
             io::in_quotes(target));
  TranslationFrame frame = format.frame;
  const std::string_view read = chosen(source, languages.source);
  const std::string_view written = chosen(target, languages.target);
  if (!read.empty()) {
    auto& side = languages.source_place == SourceLanguage::before ? frame.before : frame.after;
    side.push_back(languages.find(read));
  }
  if (written.empty()) {
    frame.lacks_target = languages.target_place == TargetLanguage::forced ||
                         languages.target_place == TargetLanguage::start;
    return frame;
  }
  const std::int32_t token = languages.find(written);
  switch (languages.target_place) {
    case TargetLanguage::none:
      break;
    case TargetLanguage::forced:
      frame.forced.push_back(token);
      break;
    case TargetLanguage::start:
      frame.start = token;
      break;
    case TargetLanguage::source:
      frame.before.push_back(token);
      break;
  }
  return frame;
}

SearchPlan plan_for(const TranslationFormat& format, const SearchOptions& options) {
  SearchPlan plan = make_plan(options, format.special, format.ends);
  if (!format.never.empty()) plan.rules.push_back(ban_tokens(format.never));
  if (!format.never_sequences.empty()) plan.rules.push_back(ban_sequences(format.never_sequences));
  plan.is_cut = format.is_cut;
  plan.is_end_certain = format.is_end_certain;
  plan.renormalised = format.renormalised;
  return plan;
}

}  // namespace heed
