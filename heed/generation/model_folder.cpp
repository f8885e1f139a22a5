#include "heed/generation/model_folder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/paths.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/init.h"
#include "heed/nn/pack_weights.h"
#include "heed/nn/packed_file.h"
#include "heed/tensor/memory_limit.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The content of config.json.
struct FolderConfig {
  explicit FolderConfig(ModelChoice choice) : kind(choice.kind().name), model(std::move(choice)) {}

  std::string kind;
  std::string tokenizer;                           // of a task with one vocabulary
  std::string source_tokenizer, target_tokenizer;  // of translation
  std::vector<std::string> labels;                 // of classification
  std::optional<LoraConfig> lora;                  // of models with adapters
  std::string origin;                              // of imported models: a folder inside
  Scoring scoring = Scoring::softmax;              // of classification
  TextFrame frame = TextFrame::begin;              // of models without decoder
  std::string prompt;                              // of sentence encoders
  std::int64_t mask = 0;                           // of models of masked tokens
  PackedForm quantize = PackedForm::f32;           // of quantised models
  ModelChoice model;

  WeightForm form() const { return quantize == PackedForm::f32 ? WeightForm() : quantize; }

  void fields(io::Fields& field) {
    field("kind", kind, "the kind of model");
    if (!origin.empty()) {
      field("origin", origin, "folder with the files that the model was imported with");
    } else if (model.kind().task == Task::translate) {
      field("source_tokenizer", source_tokenizer, "file of the source's tokenizer");
      field("target_tokenizer", target_tokenizer, "file of the target's tokenizer");
    } else {
      field("tokenizer", tokenizer, "file of the tokenizer");
    }
    const Task task = origin.empty() ? model.kind().task : Task::language;
    if (model.kind().task == Task::classify) field("labels", labels, "names of the classes");
    if (task == Task::classify) {
      field("scoring", scoring, "what the scores of classes become");
    }
    if (task == Task::embed) field("prompt", prompt, "text before every text");
    if (task == Task::fill)
      field("mask", mask, "the token that stands for a masked one", {.min = 0});
    if (task == Task::classify || task == Task::embed || task == Task::fill) {
      field("frame", frame, "tokens around a text");
    }
    if (form()) field("quantize", quantize, "the form of the weights: bf16 or int8");
    field("model", model, "the model");
    if (lora) field("lora", *lora, "adapters of the model");
  }
};

// Writes the files of a tokenizer; the name of the one that load_tokenizer() reads.
std::string write_tokenizer(const Tokenizer& tokenizer, const fs::path& folder,
                            std::string_view prefix) {
  std::string first;
  for (const Tokenizer::File& file : tokenizer.files()) {
    const std::string name = std::string(prefix) + file.name;
    io::write_file(folder / name, file.content);
    if (first.empty()) first = name;
  }
  HEED_ASSERT(!first.empty());
  return first;
}

// Writes the files of the origin, if there is one.
bool write_origin(FolderConfig& config, const std::shared_ptr<Origin>& origin,
                  const fs::path& folder) {
  if (!origin) return false;
  config.origin = kOriginFolder;
  fs::create_directory(folder / kOriginFolder);
  origin->write(folder / kOriginFolder);
  return true;
}

void write(FolderConfig config, const Model& model, const fs::path& folder) {
  if (model.lora().rank > 0) config.lora = model.lora();
  const WeightForm form = packed_form(model);
  config.quantize = form.value_or(PackedForm::f32);
  io::save_config(folder / kModelConfigFile, config);
  form ? save_packed(model, folder / kModelFile) : save_parameters(model, folder / kModelFile);
}

// Makes the model of a config. Its sizes are compared with the file of its weights by the memory
// that they take, so that a config with wrong sizes cannot take more memory than there is.
std::unique_ptr<Model> make_model(const FolderConfig& config, const io::SafetensorsFile& weights,
                                  const fs::path& folder) {
  std::uint64_t stored = 0;
  for (const io::SafetensorsEntry& entry : weights.entries()) stored += entry.bytes.size();
  // Weights may be stored in half the bytes; tables of positions and small models need more than
  // their weights.
  constexpr std::uint64_t kFactor = 8, kExtra = std::uint64_t{128} << 20;
  const MemoryLimit limit(
      kFactor * stored + kExtra,
      fmt::format("[model] {} describes a model that is far larger than {}, which has {} tensors "
                  "and {} bytes: they do not belong together, or one of them is damaged",
                  (folder / kModelConfigFile).string(), kModelFile, weights.entries().size(),
                  stored));
  const init::Skipped skipped;
  Generator unused(0);
  std::unique_ptr<Model> model = config.model.make(unused);
  if (config.lora) model->adapt(*config.lora, unused);
  return model;
}

std::unique_ptr<Model> read_any_model(const FolderConfig& config, const fs::path& folder) {
  const io::SafetensorsFile weights = io::SafetensorsFile::open(folder / kModelFile);
  std::unique_ptr<Model> model = make_model(config, weights, folder);
  if (const WeightForm form = config.form()) {
    load_packed(*model, weights, *form);
  } else {
    load_tensors(model->every_name(), weights);
  }
  model->eval();
  return model;
}

// The model of a folder as the interface of its task.
template <typename Interface>
std::unique_ptr<Interface> read_model(const FolderConfig& config, const fs::path& folder) {
  return as_interface<Interface>(read_any_model(config, folder));
}

Translator read_translator(const FolderConfig& config, const fs::path& folder) {
  const std::shared_ptr<const Tokenizer> source = load_tokenizer(folder / config.source_tokenizer);
  const std::shared_ptr<const Tokenizer> target =
      config.target_tokenizer == config.source_tokenizer
          ? source
          : std::shared_ptr<const Tokenizer>(load_tokenizer(folder / config.target_tokenizer));
  return {read_model<TranslationModel>(config, folder), source, target};
}

// Models of other programs may have more rows than tokens.
void check_vocabulary(std::int64_t model, const Tokenizer& tokenizer, const fs::path& folder,
                      TextFrame frame = TextFrame::begin) {
  const bool is_whole = model == tokenizer.size();
  HEED_CHECK(is_whole || (frame == TextFrame::special && model > tokenizer.size()),
             "[model] {}: the model has a vocabulary of {}, its tokenizer {} tokens: they do not "
             "belong together",
             folder.string(), model, tokenizer.size());
}

TextGenerator read_generator(const FolderConfig& config, const fs::path& folder) {
  TextGenerator generator{read_model<CausalModel>(config, folder),
                          load_tokenizer(folder / config.tokenizer)};
  check_vocabulary(generator.model->vocabulary(), *generator.tokenizer, folder);
  return generator;
}

TextClassifier read_classifier(const FolderConfig& config, const fs::path& folder) {
  TextClassifier classifier{read_model<ClassificationModel>(config, folder),
                            load_tokenizer(folder / config.tokenizer), config.labels, config.frame,
                            config.scoring};
  check_vocabulary(classifier.model->vocabulary(), *classifier.tokenizer, folder, config.frame);
  HEED_CHECK(classifier.model->classes() == std::ssize(classifier.labels),
             "[model] {}: the model has {} classes, and there are {} labels: they do not belong "
             "together",
             folder.string(), classifier.model->classes(), classifier.labels.size());
  return classifier;
}

TextEmbedder read_embedder(const FolderConfig& config, const fs::path& folder) {
  TextEmbedder embedder{read_model<EncodingModel>(config, folder),
                        load_tokenizer(folder / config.tokenizer), config.frame, config.prompt};
  check_vocabulary(embedder.model->vocabulary(), *embedder.tokenizer, folder, config.frame);
  return embedder;
}

TextFiller read_filler(const FolderConfig& config, const fs::path& folder) {
  TextFiller filler{read_model<FillingModel>(config, folder),
                    load_tokenizer(folder / config.tokenizer),
                    static_cast<std::int32_t>(config.mask), config.frame};
  check_vocabulary(filler.model->vocabulary(), *filler.tokenizer, folder, config.frame);
  HEED_CHECK(config.mask < filler.tokenizer->size(),
             "[model] {}: the mask is token {}, the tokenizer has {} tokens: they do not belong "
             "together",
             folder.string(), config.mask, filler.tokenizer->size());
  return filler;
}

// The kind of model in a config of heed's.
const ModelKind& kind_in(const io::Value& value, const fs::path& path) {
  const io::Value::Table* const table = value.table();
  const io::Value* const name = table != nullptr ? io::find(*table, "kind") : nullptr;
  HEED_CHECK(name != nullptr && name->string() != nullptr,
             "[model] {}: it has no \"kind\", as configs of heed's have, and no \"model_type\", as "
             "those of Hugging Face have: it is not the config of a model",
             path.string());
  const ModelKind* const kind = find_model_kind(*name->string());
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names;
  for (const ModelKind& known : model_kinds()) names.push_back(known.name);
  fail("[model] {}: there is no kind of model {}: there are {}", path.string(),
       io::in_quotes(*name->string()), fmt::join(names, ", "));
}

io::Value read_value(const fs::path& folder) {
  const fs::path path = folder / kModelConfigFile;
  HEED_CHECK(io::exists(folder),
             "[model] there is no {}: give the folder of a model that `heed train` has written, or "
             "one from Hugging Face",
             folder.string());
  HEED_CHECK(
      io::exists(path),
      "[model] {} has no {}: give the folder of a model that `heed train` has written, one of "
      "its checkpoints, or a Hugging Face folder",
      folder.string(), kModelConfigFile);
  return io::detail::read_config(path);
}

FolderConfig read_config(const fs::path& folder) {
  const fs::path path = folder / kModelConfigFile;
  const io::Value value = read_value(folder);
  FolderConfig config{ModelChoice(kind_in(value, path))};
  if (io::find(*value.table(), "lora") != nullptr) config.lora.emplace();
  if (io::find(*value.table(), "origin") != nullptr) config.origin = kOriginFolder;
  if (io::find(*value.table(), "quantize") != nullptr) config.quantize = PackedForm::int8;
  io::load_config(path, config);
  return config;
}

// A folder whose configs have been read, but no weights: one of the two.
struct OpenFolder {
  explicit OpenFolder(const fs::path& place) : path(find_model(place)) {
    if (is_foreign(path)) {
      foreign.emplace(open_foreign(path));
    } else {
      own.emplace(read_config(path));
    }
  }
  const ModelKind& kind() const { return (own ? own->model : foreign->import.model).kind(); }
  /// The form of weights that were quantised.
  WeightForm stored() const { return own ? own->form() : WeightForm(); }

  fs::path path;
  std::optional<ForeignFolder> foreign;
  std::optional<FolderConfig> own;
};

LoadedModel import_any(const ForeignFolder& folder) {
  switch (folder.import.model.kind().task) {
    case Task::translate:
      return import_translator(folder);
    case Task::language:
      return import_generator(folder);
    case Task::classify:
      return import_classifier(folder);
    case Task::embed:
      return import_embedder(folder);
    case Task::fill:
      return import_filler(folder);
  }
  HEED_ASSERT(false);
}

// A model that another program has written.
LoadedModel load_foreign(const ForeignFolder& folder) {
  LoadedModel loaded = import_any(folder);
  std::visit([&](auto& model) { model.origin = origin_of(folder); }, loaded);
  return loaded;
}

// An imported model that heed has written: its own weights, the settings of its origin.
ForeignFolder reopen(const FolderConfig& config, const fs::path& folder) {
  const fs::path origin = folder / kOriginFolder;
  return {.path = origin,
          .config = ForeignConfig::read(origin / kModelConfigFile),
          .generation = read_generation(origin),
          .tensors = io::TensorSource::open(folder / kModelFile),
          .import = Import{.model = config.model, .names = {}, .labels = config.labels},
          .make_model = [&config, folder] { return read_any_model(config, folder); }};
}

LoadedModel load_plain(const OpenFolder& folder) {
  if (folder.foreign) return load_foreign(*folder.foreign);
  const FolderConfig& config = *folder.own;
  if (!config.origin.empty()) return load_foreign(reopen(config, folder.path));
  switch (config.model.kind().task) {
    case Task::translate:
      return read_translator(config, folder.path);
    case Task::language:
      return read_generator(config, folder.path);
    case Task::classify:
      return read_classifier(config, folder.path);
    case Task::embed:
      return read_embedder(config, folder.path);
    case Task::fill:
      break;
  }
  return read_filler(config, folder.path);
}

Model& model_of(Translator& translator) { return translator.model(); }
template <typename Loaded>
Model& model_of(Loaded& loaded) {
  return *loaded.model;
}

// Weights that were quantised before cannot get another form.
void check_form(const OpenFolder& folder, WeightForm form) {
  const WeightForm stored = folder.stored();
  if (!stored || form == PackedForm::f32 || form == stored) return;
  HEED_CHECK(form,
             "[model] the weights of {} are {}: such a model can be used and exported, but not "
             "trained, averaged or converted; take the model that it was converted from",
             folder.path.string(), name_of(*stored));
  fail(
      "[model] the weights of {} are {} and cannot become {}: take the model that it was converted "
      "from",
      folder.path.string(), name_of(*stored), name_of(*form));
}

LoadedModel load(const OpenFolder& folder, WeightForm form) {
  check_form(folder, form);
  LoadedModel loaded = load_plain(folder);
  if (!form || folder.stored()) return loaded;
  std::visit(
      [&](auto& any) {
        Model& model = model_of(any);
        model.merge_adapters();
        pack_weights(model, *form);
      },
      loaded);
  return loaded;
}

// The model of a folder, which must be of that task.
template <typename Loaded>
Loaded load_as(const fs::path& place, Task task, WeightForm form) {
  const OpenFolder folder(place);
  const ModelKind& kind = folder.kind();
  HEED_CHECK(kind.task == task, "[model] {} holds a model for task \"{}\" ({}), not for \"{}\"",
             folder.path.string(), io::enum_name(kind.task), kind.name, io::enum_name(task));
  return std::get<Loaded>(load(folder, form));
}

// The config of a model with one tokenizer; the files of its tokenizer or of its origin are
// written.
template <typename Loaded>
FolderConfig begin_folder(const Loaded& loaded, const fs::path& folder) {
  FolderConfig config(loaded.model->choice());
  if (!write_origin(config, loaded.origin, folder)) {
    config.tokenizer = write_tokenizer(*loaded.tokenizer, folder, "");
  }
  return config;
}

}  // namespace

std::filesystem::path find_model(const std::filesystem::path& folder) {
  if (io::exists(folder / kModelConfigFile)) return folder;
  for (const std::string_view name : {kBestCheckpoint, kLastCheckpoint}) {
    if (io::exists(folder / name / kModelConfigFile)) return folder / name;
  }
  return folder;
}

const ModelKind& kind_of_model(const std::filesystem::path& folder) {
  if (is_foreign(folder)) return open_foreign(folder).import.model.kind();
  return kind_in(read_value(folder), folder / kModelConfigFile);
}

WeightForm stored_form(const std::filesystem::path& place) {
  const fs::path folder = find_model(place);
  if (is_foreign(folder)) return {};
  const io::Value value = read_value(folder);
  kind_in(value, folder / kModelConfigFile);  // throws if it is no config of heed's
  const io::Value* const name = io::find(*value.table(), "quantize");
  for (const auto& known : kernels::enum_names(PackedForm{})) {
    const bool is_same =
        name != nullptr && name->string() != nullptr && *name->string() == known.name;
    if (is_same && known.value != PackedForm::f32) return known.value;
  }
  return {};
}

LoadedModel load_model(const std::filesystem::path& place, WeightForm form) {
  return load(OpenFolder(place), form);
}

Translator load_translator(const std::filesystem::path& place, WeightForm form) {
  return load_as<Translator>(place, Task::translate, form);
}

TextGenerator load_text_generator(const std::filesystem::path& place, WeightForm form) {
  return load_as<TextGenerator>(place, Task::language, form);
}

TextClassifier load_text_classifier(const std::filesystem::path& place, WeightForm form) {
  return load_as<TextClassifier>(place, Task::classify, form);
}

TextEmbedder load_text_embedder(const std::filesystem::path& place, WeightForm form) {
  return load_as<TextEmbedder>(place, Task::embed, form);
}

TextFiller load_text_filler(const std::filesystem::path& place, WeightForm form) {
  return load_as<TextFiller>(place, Task::fill, form);
}

void save_model(const Translator& translator, const std::filesystem::path& folder) {
  const bool shared = translator.source() == translator.target();
  FolderConfig config(translator.model().choice());
  if (!write_origin(config, translator.origin, folder)) {
    config.source_tokenizer =
        write_tokenizer(*translator.source(), folder, shared ? "" : "source_");
    config.target_tokenizer =
        shared ? config.source_tokenizer : write_tokenizer(*translator.target(), folder, "target_");
  }
  write(config, translator.model(), folder);
}

void save_model(const TextGenerator& generator, const std::filesystem::path& folder) {
  const FolderConfig config = begin_folder(generator, folder);
  write(config, *generator.model, folder);
}

void save_model(const TextClassifier& classifier, const std::filesystem::path& folder) {
  FolderConfig config = begin_folder(classifier, folder);
  config.labels = classifier.labels;
  config.scoring = classifier.scoring;
  config.frame = classifier.frame;
  write(config, *classifier.model, folder);
}

void save_model(const TextEmbedder& embedder, const std::filesystem::path& folder) {
  FolderConfig config = begin_folder(embedder, folder);
  config.frame = embedder.frame;
  config.prompt = embedder.prompt;
  write(config, *embedder.model, folder);
}

void save_model(const TextFiller& filler, const std::filesystem::path& folder) {
  FolderConfig config = begin_folder(filler, folder);
  config.frame = filler.frame;
  config.mask = filler.mask;
  write(config, *filler.model, folder);
}

}  // namespace heed
