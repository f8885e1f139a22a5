// A model that a server has loaded: the model, what computes its requests, and how many it accepts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/model_folder.h"
#include "heed/generation/scheduler.h"
#include "heed/serve/config.h"
#include "heed/serve/embed_queue.h"
#include "heed/serve/metrics.h"

namespace heed::serve {

/// The languages that a translator reads and writes. A model of one pair has them in its name:
/// the last two parts of "opus-mt-en-fr". A name without languages gives "und", undetermined.
struct ServedLanguages {
  std::vector<std::string> sources, targets;
  bool is_table = false;  ///< Whether Translator::between() knows them.
};
ServedLanguages languages_of(const Translator& translator, std::string_view name);

class ServedModel {
 public:
  /// Reads the model. Requests are computed on threads that begin here.
  ServedModel(const ModelPlace& place, const ServeConfig& config);

  const std::string& name() const { return name_; }
  const LoadedModel& loaded() const { return loaded_; }
  Task task() const;
  /// The model of a task, or null.
  const Translator* translator() const { return std::get_if<Translator>(&loaded_); }
  const TextGenerator* generator() const { return std::get_if<TextGenerator>(&loaded_); }
  const TextEmbedder* embedder() const { return std::get_if<TextEmbedder>(&loaded_); }
  const ServedLanguages& languages() const { return languages_; }
  /// When it was loaded, in seconds since 1970.
  std::int64_t created() const { return created_; }

  /// Of a translator or a language model.
  Scheduler& scheduler() { return *scheduler_; }
  /// Of a sentence encoder.
  EmbedQueue& embeddings() { return *embeddings_; }

  /// Accepts so many texts, whose ends release() tells. Throws ApiError: 503 if too many are not
  /// done, 400 if they are too many by themselves.
  void reserve(std::int64_t texts);
  /// Gives all requests to the scheduler, for which reserve() was called, and returns their
  /// numbers. If it throws, those that began are cancelled and the others are released.
  std::vector<std::int64_t> submit(std::vector<Request> requests);
  void release(std::int64_t texts = 1) { accepted_ -= texts; }

  /// Cancels what is not done and ends the threads. Nothing may be submitted or cancelled then.
  void stop();

  /// Texts that wait and that are computed.
  ModelGauge gauge() const;

 private:
  std::string name_;
  std::int64_t most_, created_;
  LoadedModel loaded_;
  ServedLanguages languages_;
  std::atomic<std::int64_t> accepted_ = 0;
  // The threads end before what they use.
  std::unique_ptr<SequenceModel> sequences_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<EmbedQueue> embeddings_;
};
using ServedModelPtr = std::shared_ptr<ServedModel>;

/// The models of a server, in the order of its config.
using ServedModels = std::vector<ServedModelPtr>;

/// The model of that name, and one that translates between two languages ("auto": the only one).
/// Throw ApiError: 404 or 400.
ServedModelPtr find_model(const ServedModels& models, const std::string& name);
struct ChosenTranslator {
  ServedModelPtr model;
  std::string source, target;
};
ChosenTranslator find_translator(const ServedModels& models, const std::string& source,
                                 const std::string& target);

}  // namespace heed::serve
