// BERT (Devlin et al. 2019) and encoders of its architecture: post-norm layers, learned positions,
// two types of tokens, a norm of the embeddings.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

Import import_bert(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportBert = {
    "bert", "BERT, MiniLM and BGE: sentence encoders, classifiers, masked tokens", import_bert};

}  // namespace heed
