#include "heed/generation/model_folder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/paths.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/init.h"
#include "heed/nn/pack_weights.h"
#include "heed/nn/packed_file.h"
#include "heed/tensor/memory_limit.h"
#include "heed/tensor/storage.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The content of config.json.
struct FolderConfig {
  explicit FolderConfig(ModelChoice choice)
      : FolderConfig(choice, folder_format_of(choice.kind().task).keys()) {}
  FolderConfig(ModelChoice choice, std::unique_ptr<FolderKeys> task_keys)
      : kind(choice.kind().name), keys(std::move(task_keys)), model(std::move(choice)) {}
  // io::load_config() reads into a copy.
  FolderConfig(const FolderConfig& other)
      : kind(other.kind),
        lora(other.lora),
        origin(other.origin),
        keys(other.keys->clone()),
        quantize(other.quantize),
        model(other.model),
        wanted(other.wanted) {}
  FolderConfig(FolderConfig&&) = default;
  FolderConfig& operator=(const FolderConfig&) = delete;
  FolderConfig& operator=(FolderConfig&&) = default;

  std::string kind;
  std::optional<LoraConfig> lora;         // of models with adapters
  std::string origin;                     // of imported models: a folder inside
  std::unique_ptr<FolderKeys> keys;       // of the task
  PackedForm quantize = PackedForm::f32;  // of quantised models
  ModelChoice model;
  WeightForm wanted;  // of a plain model: the form that its weights are packed in; not in the file

  WeightForm form() const { return quantize == PackedForm::f32 ? WeightForm() : quantize; }

  void fields(io::Fields& field) {
    field("kind", kind, "the kind of model");
    const bool is_imported = !origin.empty();
    if (is_imported) {
      field("origin", origin, "folder with the files that the model was imported with");
    }
    keys->fields(field, is_imported);
    if (form()) field("quantize", quantize, "the form of the weights: bf16, int8 or int4");
    field("model", model, "the model");
    if (lora) field("lora", *lora, "adapters of the model");
  }
};

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
  const Unpooled unpooled;
  Generator unused(0);
  std::unique_ptr<Model> model = config.model.make(unused);
  if (config.lora) model->adapt(*config.lora, unused);
  return model;
}

std::unique_ptr<Model> read_any_model(const FolderConfig& config, const fs::path& folder) {
  const io::SafetensorsFile weights = io::SafetensorsFile::open(folder / kModelFile);
  std::unique_ptr<Model> model = make_model(config, weights, folder);
  const WeightForm stored = config.form();
  if (stored) {
    load_packed(*model, weights, *stored);
  } else if (config.wanted && !config.lora) {
    load_and_pack(*model, weights, *config.wanted);
  } else {
    load_tensors(model->every_name(), weights);
  }
  model->eval();
  return model;
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

// A model that another program has written.
LoadedModel load_foreign(const ForeignFolder& folder) {
  const FolderFormat& format = folder_format_of(folder.import.model.kind().task);
  HEED_CHECK(format.import != nullptr,
             "[model] {}: models for task \"{}\" are not imported, so they have no \"origin\"",
             folder.path.string(), io::enum_name(format.task));
  LoadedModel loaded = format.import(folder);
  std::visit(
      [&](auto& model) {
        if constexpr (requires { model.origin; }) model.origin = origin_of(folder);
      },
      loaded);
  return loaded;
}

// An imported model that heed has written: its own weights, the settings of its origin.
ForeignFolder reopen(const FolderConfig& config, const fs::path& folder) {
  const fs::path origin = folder / kOriginFolder;
  return {.path = origin,
          .config = ForeignConfig::read(origin / kModelConfigFile),
          .generation = read_generation(origin),
          .tensors = io::TensorSource::open(folder / kModelFile),
          .import = Import{.model = config.model, .names = {}, .labels = config.keys->labels()},
          .make_model = [&config, folder] { return read_any_model(config, folder); }};
}

LoadedModel load_plain(const OpenFolder& folder) {
  if (folder.foreign) return load_foreign(*folder.foreign);
  const FolderConfig& config = *folder.own;
  if (!config.origin.empty()) return load_foreign(reopen(config, folder.path));
  return config.keys->read(read_any_model(config, folder.path), folder.path);
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

LoadedModel load(OpenFolder folder, WeightForm form) {
  check_form(folder, form);
  (folder.own ? folder.own->wanted : folder.foreign->form) = form;
  LoadedModel loaded = load_plain(folder);
  const bool is_packed = !folder.own || !folder.own->lora;
  if (!form || folder.stored() || is_packed) return loaded;
  Model& model = model_of(loaded);
  model.merge_adapters();
  pack_weights(model, *form);
  return loaded;
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

Model& model_of(LoadedModel& loaded) {
  return std::visit(
      [](auto& any) -> Model& {
        if constexpr (requires { any.model(); }) {
          return any.model();
        } else {
          return *any.model;
        }
      },
      loaded);
}

// ---- for formats --------------------------------------------------------------------------------

LoadedModel load_task(const std::filesystem::path& place, Task task, WeightForm form) {
  OpenFolder folder(place);
  const ModelKind& kind = folder.kind();
  HEED_CHECK(kind.task == task, "[model] {} holds a model for task \"{}\" ({}), not for \"{}\"",
             folder.path.string(), io::enum_name(kind.task), kind.name, io::enum_name(task));
  return load(std::move(folder), form);
}

void write_keys(const Model& model, std::unique_ptr<FolderKeys> keys,
                const std::shared_ptr<Origin>& origin, const std::filesystem::path& folder) {
  FolderConfig config(model.choice(), std::move(keys));
  if (origin) {
    config.origin = kOriginFolder;
    fs::create_directory(folder / kOriginFolder);
    origin->write(folder / kOriginFolder);
  }
  if (model.lora().rank > 0) config.lora = model.lora();
  const WeightForm form = packed_form(model);
  config.quantize = form.value_or(PackedForm::f32);
  io::save_config(folder / kModelConfigFile, config);
  form ? save_packed(model, folder / kModelFile) : save_parameters(model, folder / kModelFile);
}

}  // namespace heed
