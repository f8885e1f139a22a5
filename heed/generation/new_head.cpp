#include "heed/generation/new_head.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/io/json.h"
#include "heed/models/importers/importers.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// What makes a folder one of sentence-transformers, which a classifier is not.
constexpr std::array<std::string_view, 6> kSentenceFiles = {
    "modules.json",          "sentence_bert_config.json", "config_sentence_transformers.json",
    "1_Pooling/config.json", "2_Dense/config.json",       "2_Normalize/config.json"};

io::Value text_value(std::string text) { return {.data = std::move(text)}; }

// "BertForMaskedLM" -> "BertForSequenceClassification".
std::string classifier_name(const ForeignConfig& config) {
  const std::vector<std::string> given = config.texts("architectures");
  HEED_CHECK(!given.empty(),
             "[train] {}: it has no \"architectures\", so the name of its classifier is not known",
             config.source());
  std::string name = given.front();
  const std::size_t end = std::min(name.find("For"), name.rfind("Model"));
  if (end != name.npos) name.resize(end);
  return name + "ForSequenceClassification";
}

// The config of a classifier with these labels.
ForeignConfig classifier_config(const ForeignConfig& config,
                                const std::vector<std::string>& labels) {
  io::Value::Table names, numbers, table;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    names.push_back({std::to_string(i), text_value(labels[i])});
    numbers.push_back({labels[i], {.data = static_cast<std::int64_t>(i)}});
  }
  for (const io::Member& member : config.table()) {
    const bool is_old = member.key == "architectures" || member.key == "id2label" ||
                        member.key == "label2id" || member.key == "num_labels" ||
                        member.key == "problem_type";
    if (!is_old) table.push_back(member);
  }
  table.push_back(
      {"architectures", {.data = io::Value::List{text_value(classifier_name(config))}}});
  table.push_back({"id2label", {.data = std::move(names)}});
  table.push_back({"label2id", {.data = std::move(numbers)}});
  table.push_back({"problem_type", text_value("single_label_classification")});
  return {io::Value{.data = std::move(table)}, config.source()};
}

// Copies the parameters of the same names and shapes.
void copy_common(const Module& from, Module& to) {
  std::map<std::string, Tensor, std::less<>> known;
  for (const NamedTensor& parameter : from.every_name()) {
    known.emplace(parameter.name, parameter.tensor);
  }
  for (NamedTensor& parameter : to.every_name()) {
    const auto found = known.find(parameter.name);
    if (found == known.end() || found->second.shape() != parameter.tensor.shape()) continue;
    copy_into(parameter.tensor, found->second);
  }
}

// The model and the origin of an encoder.
struct Encoder {
  const Model* model = nullptr;
  std::shared_ptr<Origin> origin;
  std::shared_ptr<const Tokenizer> tokenizer;
};

Encoder encoder_of(const LoadedModel& loaded) {
  return std::visit(
      []<typename M>(const M& model) -> Encoder {
        if constexpr (std::is_same_v<M, TextClassifier> || std::is_same_v<M, TextEmbedder> ||
                      std::is_same_v<M, TextFiller>) {
          return {model.model.get(), model.origin, model.tokenizer};
        } else {
          return {};
        }
      },
      loaded);
}

bool has_labels(const TextClassifier& classifier, const std::vector<std::string>& labels) {
  return std::ranges::all_of(labels, [&](const std::string& label) {
    return std::ranges::count(classifier.labels, label) > 0;
  });
}

}  // namespace

TextClassifier load_with_labels(const std::filesystem::path& place,
                                const std::vector<std::string>& labels, Generator& generator) {
  LoadedModel loaded = load_model(place);
  auto* const same = std::get_if<TextClassifier>(&loaded);
  if (same != nullptr && has_labels(*same, labels)) return std::move(*same);
  const Encoder encoder = encoder_of(loaded);
  HEED_CHECK(encoder.model != nullptr,
             "[train] {} holds a model for task \"{}\": a classifier begins with a classifier, a "
             "sentence encoder or a model of masked tokens",
             place.string(), io::enum_name(kind_of_model(find_model(place)).task));
  HEED_CHECK(encoder.origin,
             "[train] {} was not trained for the labels {}: begin with an imported encoder, or "
             "train a new classifier",
             place.string(), fmt::join(labels, ", "));
  const fs::path folder = find_model(place);
  const fs::path origin = is_foreign(folder) ? folder : folder / kOriginFolder;
  const ForeignConfig config =
      classifier_config(ForeignConfig::read(origin / kModelConfigFile), labels);
  const Import import =
      find_importer(config.text("model_type"), config.source()).read(config, no_tensors());
  TextClassifier classifier{
      .model = as_interface<ClassificationModel>(import.model.make(generator)),
      .tokenizer = encoder.tokenizer,
      .labels = labels,
      .frame = TextFrame::special,
      .scoring = Scoring::softmax,
      .origin = encoder.origin};
  copy_common(*encoder.model, *classifier.model);
  classifier.origin->remove(kSentenceFiles);
  classifier.origin->replace(
      {std::string(kModelConfigFile), io::write_json({.data = config.table()}, true) + "\n"});
  return classifier;
}

}  // namespace heed
