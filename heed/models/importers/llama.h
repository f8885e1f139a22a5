// Llama and the language models built like it: RMSNorm before attention and feed-forward, rotary
// positions, grouped heads, SwiGLU.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

/// Llama 2 and 3, SmolLM2, TinyLlama, …
Import import_llama(const ForeignConfig& config, const io::TensorSource& tensors);
/// Llama with a window (`sliding_window`).
Import import_mistral(const ForeignConfig& config, const io::TensorSource& tensors);
/// Llama with biases of queries, keys and values.
Import import_qwen2(const ForeignConfig& config, const io::TensorSource& tensors);
/// Llama with norms of queries and keys.
Import import_qwen3(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportLlama = {"llama", "Llama 2 and 3, SmolLM2, TinyLlama",
                                          import_llama};
inline constexpr Importer kImportMistral = {"mistral", "Mistral 7B", import_mistral};
inline constexpr Importer kImportQwen2 = {"qwen2", "Qwen 1.5, 2 and 2.5", import_qwen2};
inline constexpr Importer kImportQwen3 = {"qwen3", "Qwen 3", import_qwen3};

}  // namespace heed
