#include "heed/generation/foreign_languages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace heed {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Whether a text has the form of a pattern: 'a' stands for a small letter, 'A' for a capital one.
bool has_form(std::string_view text, std::string_view pattern) {
  return std::ranges::equal(text, pattern, [](char c, char form) {
    if (form == 'a') return is_lower(c);
    return form == 'A' ? is_upper(c) : c == form;
  });
}

// The text between two marks.
std::optional<std::string_view> between(std::string_view text, std::string_view open,
                                        std::string_view close) {
  if (text.size() <= open.size() + close.size() || !text.starts_with(open) ||
      !text.ends_with(close)) {
    return {};
  }
  return text.substr(open.size(), text.size() - open.size() - close.size());
}

std::optional<std::string_view> m2m100_name(std::string_view token) {
  const auto name = between(token, "__", "__");
  return name && std::ranges::all_of(*name, is_lower) ? name : std::nullopt;
}
std::optional<std::string_view> nllb_name(std::string_view token) {
  return has_form(token, "aaa_Aaaa") ? std::optional(token) : std::nullopt;
}
std::optional<std::string_view> mbart_name(std::string_view token) {
  return has_form(token, "aa_AA") ? std::optional(token) : std::nullopt;
}
std::optional<std::string_view> marian_name(std::string_view token) {
  return between(token, ">>", "<<");
}

// A tokenizer of transformers that knows languages.
struct Family {
  std::string_view kind;
  std::optional<std::string_view> (*name)(std::string_view token);
  std::string_view example;  // a language that tells it from the others; "": any
  SourceLanguage source_place;
  TargetLanguage target_place;
  std::string_view source;  // the language if the folder names none
};
constexpr std::array<Family, 5> kFamilies = {
    {{"M2M100Tokenizer", m2m100_name, "en", SourceLanguage::before, TargetLanguage::forced, "en"},
     {"NllbTokenizer", nllb_name, "eng_Latn", SourceLanguage::before, TargetLanguage::forced,
      "eng_Latn"},
     {"MBart50Tokenizer", mbart_name, "af_ZA", SourceLanguage::before, TargetLanguage::forced,
      "en_XX"},
     {"MBartTokenizer", mbart_name, "en_XX", SourceLanguage::after, TargetLanguage::start, "en_XX"},
     {"MarianTokenizer", marian_name, "", SourceLanguage::none, TargetLanguage::source, ""}}};

std::vector<Language> languages_of(const Tokenizer& tokenizer, const Family& family) {
  std::vector<Language> all;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string token = tokenizer.piece(id);
    if (const auto name = family.name(token)) all.push_back({std::string(*name), id});
  }
  std::ranges::sort(all, {}, &Language::name);
  return all;
}

bool has_language(const std::vector<Language>& all, std::string_view name) {
  return std::ranges::find(all, name, &Language::name) != all.end();
}

}  // namespace

LanguageTable find_languages(const Tokenizer& tokenizer, const ForeignTokenizer& about) {
  const bool is_known = std::ranges::find(kFamilies, about.kind, &Family::kind) != kFamilies.end();
  for (const Family& family : kFamilies) {
    if (is_known && family.kind != about.kind) continue;
    std::vector<Language> all = languages_of(tokenizer, family);
    const bool fits = family.example.empty() || has_language(all, family.example);
    if (all.empty() || (!is_known && !fits)) continue;
    LanguageTable table{.all = std::move(all),
                        .source_place = family.source_place,
                        .target_place = family.target_place};
    if (about.is_legacy && family.kind == "NllbTokenizer") {
      table.source_place = SourceLanguage::after;
    }
    if (table.source_place != SourceLanguage::none) {
      const bool is_given = has_language(table.all, about.source_language);
      table.source = is_given ? about.source_language : std::string(family.source);
      if (!has_language(table.all, table.source)) table.source.clear();
    }
    if (has_language(table.all, about.target_language)) table.target = about.target_language;
    return table;
  }
  return {};
}

}  // namespace heed
