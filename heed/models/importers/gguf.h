// Language models in GGUF files of llama.cpp. The metadata become a config with the keys of Hugging
// Face, which the importer of the architecture reads; one table names the tensors of all
// architectures. Matrices stay as llama.cpp has them: queries and keys of Llama are permuted, so
// that their rotary positions pair neighbouring features.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// The config of a GGUF file. A setting of the architecture that heed does not know is an error, as
/// it may change what the model computes.
ForeignConfig gguf_config(const io::TensorSource& tensors);

/// The names of tensors in GGUF files.
TensorNames gguf_names();

/// The model of a GGUF file, from its config.
Import import_gguf(const ForeignConfig& config, const io::TensorSource& tensors);

}  // namespace heed
