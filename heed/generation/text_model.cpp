#include "heed/generation/text_model.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

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

class LanguageSteps : public StepModel {
 public:
  LanguageSteps(const LanguageModel& model, std::int64_t rows) : model_(model), rows_(rows) {
    decoding_ = model.start(rows);
  }

  std::int64_t rows() const override { return rows_; }
  std::int64_t vocabulary() const override { return model_.config().vocabulary; }

  void read(std::span<const std::int32_t> prompt) {
    const NoGrad no_grad;
    std::vector<std::int64_t> all;
    for (std::int64_t row = 0; row < rows_; ++row)
      all.insert(all.end(), prompt.begin(), prompt.end());
    model_.step(from_values(std::span<const std::int64_t>(all), {rows_, std::ssize(prompt)}),
                decoding_);
  }

  Tensor step(std::span<const std::int32_t> last) override {
    const NoGrad no_grad;
    HEED_ASSERT(std::ssize(last) == rows_);
    const std::vector<std::int64_t> ids(last.begin(), last.end());
    const Tensor y =
        model_.step(from_values(std::span<const std::int64_t>(ids), {rows_, 1}), decoding_);
    return model_.scores(squeeze(y, 1));  // [rows, V]
  }

  void reorder(std::span<const std::int64_t> from) override {
    rows_ = std::ssize(from);
    decoding_.state.reorder(from);
  }

 private:
  const LanguageModel& model_;
  std::int64_t rows_;
  LanguageModel::Decoding decoding_;
};

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

std::unique_ptr<StepModel> make_steps(const LanguageModel& model, std::int64_t rows,
                                      std::span<const std::int32_t> prompt) {
  HEED_CHECK(!prompt.empty(), "[generate] the prompt has no tokens: give at least one character");
  auto steps = std::make_unique<LanguageSteps>(model, rows);
  if (prompt.size() > 1) steps->read(prompt.first(prompt.size() - 1));
  return steps;
}

}  // namespace heed
