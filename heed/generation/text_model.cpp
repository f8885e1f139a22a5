#include "heed/generation/text_model.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/nn/checkpoint_file.h"

namespace heed {
namespace {

// What config.json says of a model with one tokenizer.
template <typename Config>
struct Folder {
  std::string kind;
  std::string tokenizer;
  std::vector<std::string> labels;
  Config model;

  void fields(io::Fields& field) {
    field("kind", kind, "what the folder holds");
    field("tokenizer", tokenizer, "the tokenizer's file");
    if constexpr (std::is_same_v<Config, ClassifierConfig>) {
      field("labels", labels, "the classes' names");
    }
    field("model", model, "the model");
  }
};

constexpr const char* kGenerator = "language_model";
constexpr const char* kClassifier = "classifier";

template <typename Config>
void save(Folder<Config> about, const Module& model, const Tokenizer& tokenizer,
          const std::filesystem::path& folder) {
  about.tokenizer = write_tokenizer(tokenizer, folder, "");
  io::save_config(folder / kModelConfigFile, about);
  save_parameters(model, folder / kModelFile);
}

template <typename Config>
Folder<Config> read(const std::filesystem::path& folder, const char* kind) {
  check_kind(folder, kind);
  Folder<Config> about;
  io::load_config(folder / kModelConfigFile, about);
  return about;
}

template <typename Model>
Model load(const typename Model::Config& config, const std::filesystem::path& folder) {
  Generator unused(0);
  Model model(config, unused);
  load_parameters(model, folder / kModelFile);
  model.eval();
  return model;
}

}  // namespace

void save_text_generator(const TextGenerator& generator, const std::filesystem::path& folder) {
  Folder<LanguageModelConfig> about;
  about.kind = kGenerator;
  about.model = generator.model.config();
  save(std::move(about), generator.model, *generator.tokenizer, folder);
}

void save_text_classifier(const TextClassifier& classifier, const std::filesystem::path& folder) {
  Folder<ClassifierConfig> about;
  about.kind = kClassifier;
  about.labels = classifier.labels;
  about.model = classifier.model.config();
  save(std::move(about), classifier.model, *classifier.tokenizer, folder);
}

TextGenerator load_text_generator(const std::filesystem::path& place) {
  const std::filesystem::path folder = find_model(place);
  const auto about = read<LanguageModelConfig>(folder, kGenerator);
  return {load<LanguageModel>(about.model, folder), load_tokenizer(folder / about.tokenizer)};
}

TextClassifier load_text_classifier(const std::filesystem::path& place) {
  const std::filesystem::path folder = find_model(place);
  const auto about = read<ClassifierConfig>(folder, kClassifier);
  return {load<Classifier>(about.model, folder), load_tokenizer(folder / about.tokenizer),
          about.labels};
}

}  // namespace heed
