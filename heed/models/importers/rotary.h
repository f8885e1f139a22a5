// Rotary positions as configs of Hugging Face describe them, as one of heed's position codes.
#pragma once

#include <string>

#include "heed/models/importers/foreign_config.h"

namespace heed {

/// "rope base=10000 halves=true …" from rope_theta with rope_scaling, or from rope_parameters.
std::string import_rope(const ForeignConfig& config);

/// The same from one table of rotary settings: for models that have several. `base` is used if the
/// table has none.
std::string import_rope(const ForeignConfig& config, const ForeignConfig& scaling, double base);

}  // namespace heed
