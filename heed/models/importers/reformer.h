// Reformer (Kitaev, Kaiser and Levskaya 2020) as a language model.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// The hashes are heed's own: with the same directions (LshAttention::set_directions) the scores
/// are those of transformers.
Import import_reformer(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportReformer = {
    "reformer", "Reformer (reformer-crime-and-punishment, reformer-enwik8)", import_reformer};

}  // namespace heed
