// Rotary positions as configs of Hugging Face describe them, as one of heed's position codes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/models/importers/foreign_config.h"

namespace heed {

/// A key of configs made from GGUF files: whether features 2k and 2k + 1 of a head are rotated
/// together, as llama.cpp stores Llama, rather than k and k + D/2.
inline constexpr std::string_view kInterleavedRope = "rope_interleave";

/// "rope base=10000 halves=true …" from rope_theta with rope_scaling, or from rope_parameters.
std::string import_rope(const ForeignConfig& config);

/// The same from one table of rotary settings: for models that have several. `base` is used if the
/// table has none.
std::string import_rope(const ForeignConfig& config, const ForeignConfig& scaling, double base);

/// The number of positions that a model with rotary positions was trained for; 0 if its config does
/// not say so, or if its rotations adapt to longer texts.
std::int64_t import_context(const ForeignConfig& config);

}  // namespace heed
