// Gemma 2 (Riviere et al. 2024) and Gemma 3 (Kamath et al. 2025): Llama with norms on both sides of
// attention and feed-forward, GeGLU, scaled embeddings, and layers with a window between others.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// Scores of attention and of tokens have soft caps.
Import import_gemma2(const ForeignConfig& config, const io::TensorSource& tensors);
/// Queries and keys have norms; layers with a window have another base of rotary positions.
Import import_gemma3(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportGemma2 = {"gemma2", "Gemma 2", import_gemma2};
inline constexpr Importer kImportGemma3 = {"gemma3_text", "Gemma 3, text only", import_gemma3};

}  // namespace heed
