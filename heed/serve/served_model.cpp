#include "heed/serve/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "heed/base/error.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

bool is_code(std::string_view text) {
  return (text.size() == 2 || text.size() == 3) &&
         std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

// "en" and "fr" of "opus-mt-en-fr", "en_fr" or "en-fr".
std::pair<std::string, std::string> pair_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("-_./:"), name.size());
    parts.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  if (parts.size() < 2 || !is_code(parts.end()[-1]) || !is_code(parts.end()[-2])) {
    return {"und", "und"};
  }
  return {std::string(parts.end()[-2]), std::string(parts.end()[-1])};
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ServedLanguages languages_of(const Translator& translator, std::string_view name) {
  const LanguageTable& table = translator.format().languages;
  ServedLanguages found;
  for (const Language& language : table.all) found.targets.push_back(language.name);
  found.is_table = !found.targets.empty();
  const auto [source, target] = pair_of(name);
  if (!found.is_table) found.targets = {target};
  // Of Marian's models of several targets, the name has the language of the source.
  const bool reads_all = table.source_place != SourceLanguage::none;
  found.sources = reads_all ? found.targets : std::vector{source};
  return found;
}

ServedModel::ServedModel(const ModelPlace& place, const ServeConfig& config)
    : name_(place.name),
      most_(config.limits.queue),
      created_(seconds_since_1970()),
      loaded_(load_model(place.folder, config.quantize)) {
  if (const Translator* const one = translator()) {
    languages_ = languages_of(*one, name_);
    sequences_ = one->sequences({});
  } else if (generator()) {
    sequences_ = sequences_of(*generator()->model);
  } else if (embedder()) {
    embeddings_ = std::make_unique<EmbedQueue>(*embedder());
  } else {
    fail(
        "[serve] {} holds a model of the task {}: serve translators, language models and "
        "sentence encoders",
        place.folder.string(), io::enum_name(kind_of_model(heed::find_model(place.folder)).task));
  }
  if (sequences_) {
    scheduler_ = std::make_unique<Scheduler>(*sequences_, config.scheduling);
    scheduler_->start();
  }
}

Task ServedModel::task() const {
  if (translator() != nullptr) return Task::translate;
  return generator() != nullptr ? Task::language : Task::embed;
}

void ServedModel::reserve(std::int64_t texts) {
  if (texts > most_) {
    throw ApiError(400, fmt::format("the request is {} texts for the model {}, which takes up to "
                                    "{} at a time: send them in several requests",
                                    texts, name_, most_));
  }
  if (accepted_.fetch_add(texts) + texts > most_) {
    accepted_ -= texts;
    throw try_again(503, "the model " + name_ + " has too much to do: try again later", 1, "queue");
  }
}

std::vector<std::int64_t> ServedModel::submit(std::vector<Request> requests) {
  std::vector<std::int64_t> numbers;
  try {
    numbers.reserve(requests.size());
    for (Request& request : requests) numbers.push_back(scheduler_->submit(std::move(request)));
  } catch (...) {
    for (const std::int64_t number : numbers) scheduler_->cancel(number);
    release(std::ssize(requests) - std::ssize(numbers));
    throw;
  }
  return numbers;
}

void ServedModel::stop() {
  if (scheduler_) scheduler_->stop();
  if (embeddings_) embeddings_->stop();
}

ModelGauge ServedModel::gauge() const {
  ModelGauge gauge{.name = name_};
  if (scheduler_) {
    gauge.waiting = scheduler_->waiting();
    gauge.running = std::max<std::int64_t>(0, scheduler_->unfinished() - gauge.waiting);
  } else if (embeddings_) {
    gauge.waiting = embeddings_->waiting();
    gauge.running = embeddings_->running();
  }
  return gauge;
}

ServedModelPtr find_model(const ServedModels& models, const std::string& name) {
  for (const ServedModelPtr& model : models) {
    if (model->name() == name) return model;
  }
  throw ApiError(404, "there is no model " + io::in_quotes(name) + ": GET /v1/models lists them",
                 "model_not_found");
}

ChosenTranslator find_translator(const ServedModels& models, const std::string& source,
                                 const std::string& target) {
  bool knows_source = source == "auto", knows_target = false;
  std::vector<ChosenTranslator> found;
  for (const ServedModelPtr& model : models) {
    const ServedLanguages& known = model->languages();
    knows_source |= contains(known.sources, source);
    knows_target |= contains(known.targets, target);
    if (!contains(known.targets, target)) continue;
    if (contains(known.sources, source)) return {model, source, target};
    if (source == "auto" && known.sources.size() == 1) {
      found.push_back({model, known.sources[0], target});
    }
  }
  if (found.size() == 1) return found[0];
  if (!knows_target) throw ApiError(400, io::in_quotes(target) + " is not supported as target");
  if (!knows_source) throw ApiError(400, io::in_quotes(source) + " is not supported as source");
  throw ApiError(400, source == "auto" ? "the source language is not certain: name it"
                                       : "no model translates from " + source + " to " + target);
}

}  // namespace heed::serve
