// GPT-2 (Radford et al. 2019): LayerNorm before attention and feed-forward, learned positions.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// Matrices are stored transposed, as layers Conv1D of transformers have them.
Import import_gpt2(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportGpt2 = {"gpt2", "GPT-2, DistilGPT-2, DialoGPT", import_gpt2};

}  // namespace heed
