// What the folder of a model holds because of its task: keys of config.json, and the files beside
// it. The format of a task stands in the file that uses its models, such as classify.cpp;
// folder_format.cpp lists the formats. model_folder.cpp has what all tasks share: the kind, the
// model, and its weights.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/io/fields.h"

namespace heed {

/// The keys of a task, without their type.
class FolderKeys {
 public:
  virtual ~FolderKeys() = default;
  virtual std::unique_ptr<FolderKeys> clone() const = 0;
  /// The files of an imported model's origin say what its tokenizer is and how it is used.
  virtual void fields(io::Fields& field, bool is_imported) = 0;
  /// The names of the classes; empty if the task has none.
  virtual std::vector<std::string> labels() const = 0;
  /// The model with what lies beside it.
  virtual LoadedModel read(std::unique_ptr<Model> model,
                           const std::filesystem::path& folder) const = 0;
};

/// The keys of a task: a struct with the functions `fields` and `read`.
template <typename Keys>
class FolderKeysOf : public FolderKeys {
 public:
  FolderKeysOf() = default;
  explicit FolderKeysOf(Keys values) : keys(std::move(values)) {}

  std::unique_ptr<FolderKeys> clone() const override {
    return std::make_unique<FolderKeysOf>(*this);
  }
  void fields(io::Fields& field, bool is_imported) override { keys.fields(field, is_imported); }
  std::vector<std::string> labels() const override {
    if constexpr (requires { keys.labels; }) return keys.labels;
    return {};
  }
  LoadedModel read(std::unique_ptr<Model> model,
                   const std::filesystem::path& folder) const override {
    return keys.read(std::move(model), folder);
  }

  Keys keys = {};
};

/// The format of a task.
struct FolderFormat {
  Task task;
  std::unique_ptr<FolderKeys> (*keys)();        ///< With their defaults.
  LoadedModel (*import)(const ForeignFolder&);  ///< Null: no importer knows the task.
};

/// The format whose keys are of that type; `kImport` makes the model of a foreign folder.
template <typename Keys, auto kImport = nullptr>
constexpr FolderFormat folder_format(Task task) {
  FolderFormat format{
      task, []() -> std::unique_ptr<FolderKeys> { return std::make_unique<FolderKeysOf<Keys>>(); },
      nullptr};
  if constexpr (!std::is_null_pointer_v<decltype(kImport)>) {
    format.import = [](const ForeignFolder& folder) -> LoadedModel { return kImport(folder); };
  }
  return format;
}

/// The format of a task's folders.
const FolderFormat& folder_format_of(Task task);

// ---- for formats --------------------------------------------------------------------------------

/// Writes config.json, the weights, and the files of the origin unless it is null.
void write_keys(const Model& model, std::unique_ptr<FolderKeys> keys,
                const std::shared_ptr<Origin>& origin, const std::filesystem::path& folder);
template <typename Keys>
void save_folder(const Model& model, Keys keys, const std::shared_ptr<Origin>& origin,
                 const std::filesystem::path& folder) {
  write_keys(model, std::make_unique<FolderKeysOf<Keys>>(std::move(keys)), origin, folder);
}

/// The model of a folder, which must be one of that task.
LoadedModel load_task(const std::filesystem::path& place, Task task, WeightForm form);

/// Writes the files of a tokenizer; returns the name of the one that load_tokenizer() reads.
std::string write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder,
                            std::string_view prefix = "");

/// Throws unless a model has as many tokens as its tokenizer. Models of other programs may have
/// more.
void check_vocabulary(std::int64_t model, const Tokenizer& tokenizer,
                      const std::filesystem::path& folder, TextFrame frame = TextFrame::begin);

}  // namespace heed
