// Models that other programs have written, used as they are: a Hugging Face folder (config.json
// with a "model_type", weights, tokenizer files), or a GGUF file, which has all of these inside.
// heed/models/importers/ reads configs and weights; here are the tokenizers and the settings of
// generation, one function for each task.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "heed/generation/text_model.h"
#include "heed/generation/translator.h"
#include "heed/io/tensor_source.h"
#include "heed/models/importers/importer.h"

namespace heed {

/// The parts of a folder, opened but not loaded.
struct ForeignFolder {
  std::filesystem::path path;  ///< Of the folder, or of a GGUF file.
  ForeignConfig config;
  ForeignConfig generation;  ///< generation_config.json; empty if there is none.
  io::TensorSource tensors;
  Import import;
  /// Makes the model; none: import_model() does. A converted folder has heed's own weights.
  std::function<std::unique_ptr<Model>()> make_model = {};
  std::optional<PackedForm> form = {};  ///< That import_model() packs weights in.
};

/// Whether a folder holds a model of another program, or a file is one.
bool is_foreign(const std::filesystem::path& place);

/// Reads the configs and the list of tensors; no weights.
ForeignFolder open_foreign(const std::filesystem::path& place);

/// A model as the interface of its task.
template <typename Interface>
std::unique_ptr<Interface> as_interface(std::unique_ptr<Model> model) {
  auto* const typed = dynamic_cast<Interface*>(model.get());
  HEED_ASSERT(typed != nullptr);
  model.release();
  return std::unique_ptr<Interface>(typed);
}

/// The model of a folder as the interface of its task.
template <typename Interface>
std::unique_ptr<Interface> import_as(const ForeignFolder& folder) {
  std::unique_ptr<Model> model = folder.make_model
                                     ? folder.make_model()
                                     : import_model(folder.import, folder.tensors, folder.form);
  return as_interface<Interface>(std::move(model));
}

/// The files of the folder besides its weights; of a GGUF file they are made from its metadata.
std::shared_ptr<Origin> origin_of(const ForeignFolder& folder);

/// generation_config.json of a folder; empty if there is none.
ForeignConfig read_generation(const std::filesystem::path& folder);

/// Task::translate.
Translator import_translator(const ForeignFolder& folder);
/// Task::language.
TextGenerator import_generator(const ForeignFolder& folder);
/// Task::classify.
TextClassifier import_classifier(const ForeignFolder& folder);
/// Task::embed.
TextEmbedder import_embedder(const ForeignFolder& folder);
/// Task::fill.
TextFiller import_filler(const ForeignFolder& folder);

/// Throws unless a vocabulary has room for all tokens of a tokenizer. Models of other programs may
/// have more rows than tokens.
void check_fits(std::int64_t vocabulary, const Tokenizer& tokenizer, const ForeignFolder& folder);

}  // namespace heed
