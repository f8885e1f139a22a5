// BART and the encoder-decoders with its tensor names: mBART, M2M100 and, in marian.h, Marian. They
// differ in positions, in the place of the norms and in defaults.
#pragma once

#include <string>

#include "heed/models/importers/importer.h"

namespace heed {

/// What differs between the architectures.
struct BartFamily {
  std::string positions;
  bool norm_first = false;               ///< With a norm after the last layer.
  bool embedding_norm = false;           ///< A norm of the embeddings with their positions.
  std::string_view activation = "gelu";  ///< If the config names none.
  bool scaled_embeddings = false;        ///< If the config does not say.
};

/// An encoder-decoder with BART's keys and tensor names.
Import import_bart_family(const ForeignConfig& config, const io::TensorSource& tensors,
                          const BartFamily& family);

/// Post-norm, learned positions.
Import import_bart(const ForeignConfig& config, const io::TensorSource& tensors);
/// Pre-norm, learned positions.
Import import_mbart(const ForeignConfig& config, const io::TensorSource& tensors);
/// Pre-norm, sinusoids as in fairseq.
Import import_m2m_100(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportBart = {"bart", "BART", import_bart};
inline constexpr Importer kImportMBart = {"mbart", "mBART, mBART-50", import_mbart};
inline constexpr Importer kImportM2m100 = {"m2m_100", "M2M100, NLLB-200", import_m2m_100};

}  // namespace heed
