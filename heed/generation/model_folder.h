// A trained model as a folder: config.json says what it is, model.safetensors holds its parameters,
// and the files of its tokenizers lie beside them. Folders of Hugging Face are read too
// (foreign_folder.h).
//
//   const LoadedModel model = load_model("folder");       // whatever it holds
//   const Translator translator = load_translator("folder");  // or that, or an error
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "heed/generation/bit_machine.h"
#include "heed/generation/caption.h"
#include "heed/generation/cloze_reader.h"
#include "heed/generation/point.h"
#include "heed/generation/recognise.h"
#include "heed/generation/story_answerer.h"
#include "heed/generation/text_model.h"
#include "heed/generation/translator.h"
#include "heed/models/kinds.h"
#include "heed/nn/packed_weight.h"
#include "heed/text/tokenizer.h"

namespace heed {

inline constexpr std::string_view kModelConfigFile = "config.json";
inline constexpr std::string_view kModelFile = "model.safetensors";
/// The links in the folder of a training run to its best and its last checkpoint.
inline constexpr std::string_view kBestCheckpoint = "checkpoint_best";
inline constexpr std::string_view kLastCheckpoint = "checkpoint_last";

/// The folder of a model: the one given or, if a model was trained there, its best checkpoint, or
/// its last one if none was validated.
std::filesystem::path find_model(const std::filesystem::path& folder);

/// The kind of model that a folder holds; throws if heed does not know it.
const ModelKind& kind_of_model(const std::filesystem::path& folder);

/// A model of any task.
using LoadedModel = std::variant<Translator, TextGenerator, TextClassifier, TextEmbedder,
                                 TextFiller, PictureClassifier, ElementPointer, BitMachine,
                                 ClozeReader, StoryAnswerer, PictureCaptioner>;

/// The form of the weights of a model. Packed weights make inference faster, and results that do
/// not depend on the other texts of a batch; they have no gradients.
using WeightForm = std::optional<PackedForm>;  // none: plain tensors

/// The form of the weights in a folder: bf16, int8 or int4 if they were quantised, else none.
WeightForm stored_form(const std::filesystem::path& place);

/// Reads a folder, in evaluation mode. The folder of a whole training run will do: find_model().
/// Weights that were quantised before keep their form; asking for f32 accepts them, asking for
/// plain tensors or for another form throws.
LoadedModel load_model(const std::filesystem::path& place, WeightForm form = {});

/// The same for one task; throws if the folder holds a model of another.
Translator load_translator(const std::filesystem::path& place, WeightForm form = {});
TextGenerator load_text_generator(const std::filesystem::path& place, WeightForm form = {});
TextClassifier load_text_classifier(const std::filesystem::path& place, WeightForm form = {});
TextEmbedder load_text_embedder(const std::filesystem::path& place, WeightForm form = {});
TextFiller load_text_filler(const std::filesystem::path& place, WeightForm form = {});
PictureClassifier load_picture_classifier(const std::filesystem::path& place, WeightForm form = {});
ElementPointer load_element_pointer(const std::filesystem::path& place, WeightForm form = {});
BitMachine load_bit_machine(const std::filesystem::path& place, WeightForm form = {});
PictureCaptioner load_picture_captioner(const std::filesystem::path& place, WeightForm form = {});
ClozeReader load_cloze_reader(const std::filesystem::path& place, WeightForm form = {});
StoryAnswerer load_story_answerer(const std::filesystem::path& place, WeightForm form = {});

/// The model itself.
Model& model_of(LoadedModel& loaded);

/// Writes config.json, model.safetensors and the files of the tokenizers into a folder that exists.
/// Packed weights are written in their form.
void save_model(const Translator& translator, const std::filesystem::path& folder);
void save_model(const TextGenerator& generator, const std::filesystem::path& folder);
void save_model(const TextClassifier& classifier, const std::filesystem::path& folder);
void save_model(const TextEmbedder& embedder, const std::filesystem::path& folder);
void save_model(const TextFiller& filler, const std::filesystem::path& folder);
void save_model(const PictureClassifier& classifier, const std::filesystem::path& folder);
void save_model(const ElementPointer& pointer, const std::filesystem::path& folder);
void save_model(const BitMachine& machine, const std::filesystem::path& folder);
void save_model(const PictureCaptioner& captioner, const std::filesystem::path& folder);
void save_model(const ClozeReader& reader, const std::filesystem::path& folder);
void save_model(const StoryAnswerer& answerer, const std::filesystem::path& folder);

}  // namespace heed
