// MPNet (Song et al. 2020): BERT without types of tokens, with learned positions and, besides, a
// bias of the scores by distance that all layers share.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

Import import_mpnet(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportMpnet = {
    "mpnet", "MPNet: sentence encoders, classifiers, masked tokens", import_mpnet};

}  // namespace heed
