// Models from one form into another: any model that heed reads into a folder of heed's own, and
// imported models, after training too, back into a folder of Hugging Face.
#pragma once

#include <filesystem>

#include "heed/nn/packed_weight.h"

namespace heed {

/// Writes a folder of heed's with the model of `place` (a folder of heed's or of Hugging Face, a
/// GGUF file). Adapters are merged into their matrices. With a form, weights are quantised: loading
/// the folder gives the same model as loading `place` in that form. The folder `to` must not exist
/// yet, and appears only when it is complete.
void convert_model(const std::filesystem::path& place, const std::filesystem::path& to,
                   PackedForm form = PackedForm::f32);

/// Writes a folder of Hugging Face with the model of `place`, which must have been imported: its
/// weights as f32 in model.safetensors, beside the configs and tokenizer files of its origin.
/// Quantised weights become the numbers that they stand for.
void export_model(const std::filesystem::path& place, const std::filesystem::path& to);

}  // namespace heed
