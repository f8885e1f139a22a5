// Marian: the translators of OPUS-MT. BART with sinusoids, and with two vocabularies if the two
// languages do not share one.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

Import import_marian(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportMarian = {"marian", "OPUS-MT", import_marian};

}  // namespace heed
