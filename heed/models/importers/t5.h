// T5: RMSNorm before attention and feed-forward, no biases, no scaling of scores, and one table of
// relative positions for all layers of the encoder and one for those of the decoder.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// T5 and T5 1.1, which differ in their activation and in the output matrix.
Import import_t5(const ForeignConfig& config, const io::TensorSource& tensors);
/// T5 1.1 with another vocabulary.
Import import_mt5(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportT5 = {"t5", "T5, T5 1.1, Flan-T5", import_t5};
inline constexpr Importer kImportMt5 = {"mt5", "mT5", import_mt5};

}  // namespace heed
