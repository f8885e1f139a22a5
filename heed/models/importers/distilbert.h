// DistilBERT (Sanh et al. 2019): BERT without types of tokens, and with other names.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

Import import_distilbert(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportDistilbert = {
    "distilbert", "DistilBERT: sentence encoders, classifiers, masked tokens", import_distilbert};

}  // namespace heed
