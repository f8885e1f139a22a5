#include "heed/generation/translator.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/generation/examine.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/scheduler.h"
#include "heed/models/copying.h"

namespace heed {
namespace {

bool is_complete(const ModelWeights& weights, ObservedWeights what) {
  return std::ranges::all_of(weights.decoder, [&](const LayerWeights& layer) {
    return layer.cross.defined() && (what == ObservedWeights::cross || layer.self.defined());
  });
}

}  // namespace

Translator::Translator(std::shared_ptr<TranslationModel> model,
                       std::shared_ptr<const Tokenizer> source,
                       std::shared_ptr<const Tokenizer> target)
    : Translator(std::move(model), source, target, plain_format(*source, *target)) {
  HEED_CHECK(
      source_->size() == model_->source_vocabulary() &&
          target_->size() == model_->target_vocabulary(),
      "[translator] tokenizers of {} and {} tokens, a model of {} and {}: they do not belong "
      "together",
      source_->size(), target_->size(), model_->source_vocabulary(), model_->target_vocabulary());
}

Translator::Translator(std::shared_ptr<TranslationModel> model,
                       std::shared_ptr<const Tokenizer> source,
                       std::shared_ptr<const Tokenizer> target, TranslationFormat format)
    : model_(std::move(model)),
      source_(std::move(source)),
      target_(std::move(target)),
      format_(std::move(format)),
      frame_(frame_for(format_, "", "")),
      copies_(copying_of(*model_) != nullptr ? std::make_shared<const CopyTable>(*source_, *target_)
                                             : nullptr) {}

Translator Translator::between(std::string_view source, std::string_view target) const {
  Translator other = *this;
  other.frame_ = frame_for(format_, source, target);
  return other;
}

Translator Translator::with_shortlist(std::shared_ptr<const Shortlist> shortlist) const {
  HEED_CHECK(!shortlist || !copies_,
             "[translate] a shortlist for a model that copies words of the source: its mixture is "
             "over all tokens; leave the shortlist out");
  Translator other = *this;
  other.shortlist_ = std::move(shortlist);
  return other;
}

// Of a source with its special tokens, which have no translations.
std::vector<std::int32_t> Translator::candidates_of(std::span<const std::int32_t> source) const {
  if (!shortlist_) return {};
  const auto words = source.subspan(frame_.before.size(),
                                    source.size() - static_cast<std::size_t>(frame_.around()));
  return shortlist_->candidates(words).value_or(std::vector<std::int32_t>());
}

std::vector<std::int32_t> Translator::read(std::string_view sentence) const {
  HEED_CHECK(!frame_.lacks_target,
             "[translate] the model writes {} languages: choose one with --target-language "
             "(target_language in Python; `heed translate --list-languages` lists them)",
             format_.languages.all.size());
  std::vector<std::int32_t> ids = frame_.before;
  const std::vector<std::int32_t> words = source_->encode(sentence);
  ids.insert(ids.end(), words.begin(), words.end());
  ids.insert(ids.end(), frame_.after.begin(), frame_.after.end());
  return ids;
}

std::vector<std::int32_t> Translator::read_result(std::string_view text) const {
  std::vector<std::int32_t> ids = frame_.forced;
  const std::vector<std::int32_t> words = target_->encode(text);
  ids.insert(ids.end(), words.begin(), words.end());
  return ids;
}

std::vector<std::int32_t> Translator::read_result(std::string_view text,
                                                  const CopiedWords* copied) const {
  return copied == nullptr ? read_result(text) : copies_->read_target(text, *copied);
}

std::string Translator::text_of(std::span<const std::int32_t> tokens) const {
  if (format_.languages.all.empty()) return target_->decode(tokens);
  std::vector<std::int32_t> words(tokens.begin(), tokens.end());
  std::erase_if(words, [&](std::int32_t token) {
    return std::ranges::find(format_.languages.all, token, &Language::token) !=
           format_.languages.all.end();
  });
  return target_->decode(words);
}

std::string Translator::text_of(const Hypothesis& result) const {
  if (result.copied.empty()) return text_of(result.tokens);
  std::vector<std::int32_t> tokens = result.tokens;
  std::vector<std::string> words;
  for (const CopiedToken& one : result.copied) {
    tokens[static_cast<std::size_t>(one.at)] =
        static_cast<std::int32_t>(target_->size() + std::ssize(words));
    words.push_back(one.word);
  }
  return copies_->decode(tokens, words);
}

std::shared_ptr<const CopiedWords> Translator::copied(std::string_view sentence,
                                                      std::span<const std::int32_t> tokens) const {
  if (!copies_) return nullptr;
  return std::make_shared<const CopiedWords>(
      copies_->read(sentence, tokens, std::ssize(frame_.before)));
}

std::unique_ptr<SequenceModel> Translator::sequences(const TranslateOptions& options) const {
  return sequences_of(*model_, {.padding = source_->special().padding,
                                .stepping = options.stepping,
                                .cache = options.search.cache,
                                .observed = options.observed});
}

std::shared_ptr<const SearchPlan> Translator::plan(const TranslateOptions& options) const {
  SearchOptions bounded = options.search;
  bounded.max_length = std::min(bounded.max_length, model_->max_target() - 1);  // begin
  bounded.min_length = std::min(bounded.min_length, bounded.max_length);
  return std::make_shared<const SearchPlan>(plan_for(format_, bounded));
}

Request Translator::request_of(Source source, std::shared_ptr<const SearchPlan> plan) const {
  Start start{.token = frame_.start,
              .source_length = std::ssize(source.tokens),
              .stream = source.stream,
              .forced = frame_.forced,
              .candidates = candidates_of(source.tokens),
              .words = source.copied ? std::ssize(source.copied->words) : 0};
  start.forced.insert(start.forced.end(), source.prefix.begin(), source.prefix.end());
  HEED_CHECK(std::ssize(start.forced) < model_->max_target(),
             "[translate] a prefix of {} tokens: the model writes at most {}", source.prefix.size(),
             model_->max_target() - 1);
  return {.source = std::move(source.tokens),
          .copied = std::move(source.copied),
          .start = std::move(start),
          .plan = std::move(plan)};
}

std::vector<NBest> Translator::search_batch(std::span<const Source> sources,
                                            const TranslateOptions& options) const {
  const std::unique_ptr<SequenceModel> model = sequences(options);
  const std::shared_ptr<const SearchPlan> shared = plan(options);
  std::vector<Request> requests;
  for (const Source& source : sources) requests.push_back(request_of(source, shared));
  return run_requests(*model, options.scheduling, std::move(requests), options.on_step);
}

std::vector<Translation> Translator::translations_of(std::span<const std::int32_t> source,
                                                     NBest found,
                                                     const TranslateOptions& options) const {
  std::vector<Translation> results;
  for (Hypothesis& hypothesis : found) {
    // An attention that keeps no keys has no weights step by step, but in a pass over the whole.
    if (hypothesis.weights && !is_complete(*hypothesis.weights, options.observed)) {
      hypothesis.weights = examine_weights(*this, {source, hypothesis.tokens});
    }
    std::string text = text_of(hypothesis);
    results.push_back({std::move(text), std::move(hypothesis)});
  }
  return results;
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> sentences,
                                                            const TranslateOptions& options) const {
  std::vector<std::int32_t> prefix;
  if (!options.prefix.empty()) prefix = target_->encode(options.prefix);
  std::vector<Source> spoken;
  std::vector<std::size_t> places;
  std::vector<std::vector<Translation>> results(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Source source{.tokens = read(sentences[i]), .stream = i, .prefix = prefix};
    source.copied = copied(sentences[i], source.tokens);
    if (is_empty(source.tokens)) {
      results[i].push_back({});
    } else {
      spoken.push_back(std::move(source));
      places.push_back(i);
    }
  }
  if (spoken.empty()) return results;
  std::vector<NBest> found = search_batch(spoken, options);
  for (std::size_t k = 0; k < places.size(); ++k) {
    results[places[k]] = translations_of(spoken[k].tokens, std::move(found[k]), options);
  }
  return results;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct TranslatorKeys {
  std::string source, target;

  void fields(io::Fields& field, bool is_imported) {
    if (is_imported) return;
    field("source_tokenizer", source, "file of the source's tokenizer");
    field("target_tokenizer", target, "file of the target's tokenizer");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    const std::shared_ptr<const Tokenizer> reader = load_tokenizer(folder / source);
    const std::shared_ptr<const Tokenizer> writer =
        target == source ? reader
                         : std::shared_ptr<const Tokenizer>(load_tokenizer(folder / target));
    return Translator(as_interface<TranslationModel>(std::move(model)), reader, writer);
  }
};

}  // namespace

constinit const FolderFormat kTranslatorFolder =
    folder_format<TranslatorKeys, import_translator>(Task::translate);

Translator load_translator(const std::filesystem::path& place, WeightForm form) {
  return std::get<Translator>(load_task(place, Task::translate, form));
}

void save_model(const Translator& translator, const std::filesystem::path& folder) {
  const bool is_shared = translator.source() == translator.target();
  TranslatorKeys keys;
  if (!translator.origin) {
    keys.source = write_tokenizer(*translator.source(), folder, is_shared ? "" : "source_");
    keys.target =
        is_shared ? keys.source : write_tokenizer(*translator.target(), folder, "target_");
  }
  save_folder(translator.model(), std::move(keys), translator.origin, folder);
}

}  // namespace heed
