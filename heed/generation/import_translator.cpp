// Translators of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/foreign_languages.h"
#include "heed/io/paths.h"
#include "heed/text/pipeline/hf_folder.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

// Settings of searches that heed has no other value of.
struct Neutral {
  std::string_view key;
  double value;
};
constexpr std::array<Neutral, 10> kNeutral = {{{"repetition_penalty", 1.0},
                                               {"encoder_repetition_penalty", 1.0},
                                               {"encoder_no_repeat_ngram_size", 0.0},
                                               {"num_beam_groups", 1.0},
                                               {"diversity_penalty", 0.0},
                                               {"typical_p", 1.0},
                                               {"epsilon_cutoff", 0.0},
                                               {"eta_cutoff", 0.0},
                                               {"guidance_scale", 1.0},
                                               {"min_p", 0.0}}};
constexpr std::array<std::string_view, 6> kAbsent = {
    "forced_decoder_ids", "force_words_ids",       "constraints",
    "sequence_bias",      "begin_suppress_tokens", "exponential_decay_length_penalty"};

// What generation_config.json says; in folders without one, config.json says it.
const ForeignConfig& settings_of(const ForeignFolder& folder) {
  return folder.generation.table().empty() ? folder.config : folder.generation;
}

// The tokens of a key, of either file.
Tokens tokens_of(const ForeignFolder& folder, std::string_view key) {
  Tokens tokens;
  const ForeignConfig& config = folder.generation.has(key) ? folder.generation : folder.config;
  for (const std::int64_t token : config.integers(key)) {
    HEED_CHECK(token >= 0 && token <= std::numeric_limits<std::int32_t>::max(),
               "[import] {}: {} is {}: it must be a token, from 0", config.source(),
               io::in_quotes(key), token);
    tokens.push_back(static_cast<std::int32_t>(token));
  }
  return tokens;
}

std::optional<std::int32_t> token_of(const ForeignFolder& folder, std::string_view key) {
  const Tokens tokens = tokens_of(folder, key);
  return tokens.empty() ? std::nullopt : std::optional(tokens.front());
}

ForeignTokenizer tokenizer_of(const ForeignFolder& folder) {
  const std::filesystem::path path = folder.path / "tokenizer_config.json";
  const ForeignConfig config = io::exists(path)
                                   ? ForeignConfig::read(path)
                                   : ForeignConfig({.data = io::Value::Table{}}, path.string());
  std::string kind = config.text("tokenizer_class", folder.config.text("tokenizer_class", ""));
  if (kind.ends_with("Fast")) kind.resize(kind.size() - 4);
  return {.kind = std::move(kind),
          .source_language = config.text("src_lang", ""),
          .target_language = config.text("tgt_lang", ""),
          .is_legacy = config.boolean("legacy_behaviour", false)};
}

// ---- the frame ----------------------------------------------------------------------------------

TranslationFrame frame_of(const ForeignFolder& folder, const Tokenizer& source,
                          const LanguageTable& languages) {
  TranslationFrame frame{.after = {source.special().end}};
  if (folder.config.text("model_type") == "bart") frame.before = {source.special().begin};
  const auto start = token_of(folder, "decoder_start_token_id");
  const auto begin = start ? start : token_of(folder, "bos_token_id");
  HEED_CHECK(begin || languages.target_place == TargetLanguage::start,
             "[import] {}: it has no \"decoder_start_token_id\", so the decoder has nothing to "
             "begin with",
             folder.config.source());
  frame.start = begin.value_or(0);
  if (const auto first = token_of(folder, "forced_bos_token_id")) frame.forced = {*first};
  return frame;
}

// A language that the settings force is the model's, and may be replaced by another one.
void take_language(std::vector<std::int32_t>& forced, LanguageTable& languages) {
  if (languages.target_place != TargetLanguage::forced || forced.empty()) return;
  const auto named = std::ranges::find(languages.all, forced.front(), &Language::token);
  if (named == languages.all.end()) return;
  if (languages.target.empty()) languages.target = named->name;
  forced.clear();
}

// ---- what is never chosen -----------------------------------------------------------------------

void read_bad_words(const ForeignConfig& settings, TranslationFormat& format) {
  const io::Value* const value = io::find(settings.table(), "bad_words_ids");
  if (value == nullptr || value->is_null()) return;
  const auto check = [&](bool is_right) {
    HEED_CHECK(is_right, "[import] {}: \"bad_words_ids\" must be a list of lists of tokens",
               settings.source());
  };
  check(value->list() != nullptr);
  for (const io::Value& entry : *value->list()) {
    check(entry.list() != nullptr);
    Tokens tokens;
    for (const io::Value& token : *entry.list()) {
      check(token.integer() != nullptr);
      tokens.push_back(static_cast<std::int32_t>(*token.integer()));
    }
    if (tokens.size() == 1) {
      format.never.push_back(tokens[0]);
    } else {
      format.never_sequences.push_back(std::move(tokens));
    }
  }
}

void read_never(const ForeignFolder& folder, std::int64_t vocabulary, const Tokenizer& target,
                TranslationFormat& format) {
  read_bad_words(settings_of(folder), format);
  const Tokens more = tokens_of(folder, "suppress_tokens");
  format.never.insert(format.never.end(), more.begin(), more.end());
  // A model may have more outputs than there are tokens, so that their number is a round one.
  for (std::int64_t token = target.size(); token < vocabulary; ++token) {
    format.never.push_back(static_cast<std::int32_t>(token));
  }
  std::erase_if(format.never, [&](std::int32_t token) {
    return std::ranges::find(format.ends, token) != format.ends.end();
  });
}

// ---- the search ---------------------------------------------------------------------------------

void check_neutral(const ForeignConfig& settings) {
  for (const auto& [key, value] : kNeutral) {
    const double found = settings.number(key, value);
    HEED_CHECK(found == value,
               "[import] {}: {} is {}: heed's search for translations has no such option; set it "
               "to {} if results may differ",
               settings.source(), io::in_quotes(key), found, value);
  }
  for (const std::string_view key : kAbsent) {
    HEED_CHECK(!settings.has(key),
               "[import] {}: {} is given: heed's search for translations has no such option; "
               "remove it if results may differ",
               settings.source(), io::in_quotes(key));
  }
}

Stopping stopping_of(const ForeignConfig& settings) {
  const io::Value* const value = io::find(settings.table(), "early_stopping");
  if (value != nullptr && value->string() != nullptr && *value->string() == "never") {
    return Stopping::exact;
  }
  return settings.boolean("early_stopping", false) ? Stopping::first : Stopping::estimate;
}

// Lengths of theirs count the start token, and the end token.
void read_lengths(const ForeignConfig& settings, TranslationFormat& format) {
  constexpr double kAnyRatio = 1e6;
  SearchOptions& search = format.search;
  search.min_length = settings.has("min_new_tokens")
                          ? settings.integer("min_new_tokens")
                          : std::max<std::int64_t>(0, settings.integer("min_length", 0) - 1);
  format.is_end_certain = settings.has("forced_eos_token_id");
  format.is_cut = !format.is_end_certain;
  if (!settings.has({"max_new_tokens", "max_length"})) return;
  const std::int64_t written = settings.has("max_new_tokens") ? settings.integer("max_new_tokens")
                                                              : settings.integer("max_length") - 1;
  search.max_length = written - (format.is_end_certain ? 1 : 0);
  search.max_length_ratio = kAnyRatio;
  search.min_length = std::min(search.min_length, search.max_length);
}

void read_search(const ForeignConfig& settings, TranslationFormat& format) {
  check_neutral(settings);
  SearchOptions& search = format.search;
  search.beam_size = settings.integer("num_beams", search.beam_size);
  search.stopping = stopping_of(settings);
  search.length_penalty = settings.number("length_penalty", 1.0);
  search.no_repeat_ngram = settings.integer("no_repeat_ngram_size", 0);
  search.allow_unknown = true;
  if (settings.boolean("do_sample", false)) {
    constexpr std::int64_t kTopK = 50;  // of transformers
    search.method = SearchMethod::sample;
    search.temperature = settings.number("temperature", 1.0);
    search.top_k = settings.integer("top_k", kTopK);
    search.top_p = settings.number("top_p", 1.0);
  }
  read_lengths(settings, format);
  format.renormalised = settings.boolean("renormalize_logits", false);
  try {
    search.validate();
  } catch (const Error& error) {
    fail("[import] {}: {}", settings.source(), error.what());
  }
}

TranslationFormat format_of(const ForeignFolder& folder, const Tokenizer& source,
                            const Tokenizer& target, std::int64_t vocabulary) {
  TranslationFormat format;
  format.languages = find_languages(target, tokenizer_of(folder));
  format.frame = frame_of(folder, source, format.languages);
  take_language(format.frame.forced, format.languages);
  format.ends = tokens_of(folder, "eos_token_id");
  if (format.ends.empty()) format.ends = {target.special().end};
  // Results may contain begin tokens: BART writes one.
  const std::int32_t padding = token_of(folder, "pad_token_id").value_or(target.special().padding);
  format.special = {.unknown = target.special().unknown,
                    .begin = padding,
                    .end = format.ends.front(),
                    .padding = padding};
  read_never(folder, vocabulary, target, format);
  read_search(settings_of(folder), format);
  return format;
}

}  // namespace

Translator import_translator(const ForeignFolder& folder) {
  const auto source = read_hf_tokenizer(folder.path, Side::source);
  const bool is_pair = io::exists(folder.path / "target.spm");
  const auto target = is_pair ? read_hf_tokenizer(folder.path, Side::target) : source;
  std::shared_ptr<TranslationModel> model = import_as<TranslationModel>(folder);
  check_fits(model->source_vocabulary(), *source, folder);
  check_fits(model->target_vocabulary(), *target, folder);
  TranslationFormat format = format_of(folder, *source, *target, model->target_vocabulary());
  return {std::move(model), source, target, std::move(format)};
}

}  // namespace heed
