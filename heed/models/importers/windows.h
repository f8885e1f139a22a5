// Layers with a window of attention (sliding_window) as configs of Hugging Face describe them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "heed/models/block.h"
#include "heed/models/importers/foreign_config.h"

namespace heed {

/// Which layers have a window: a letter per layer as in BlockConfig::layer_pattern, from
/// "layer_types" or, where a config has none, from `is_local`.
std::string import_layer_pattern(const ForeignConfig& config, std::int64_t layers,
                                 const std::function<bool(std::int64_t layer)>& is_local);

/// Sets the attention of a block: multi_head with some options, in layers 'L' of the pattern with a
/// window of that many positions, the query's included.
void set_windows(BlockConfig& block, const ForeignConfig& config, const std::string& pattern,
                 std::int64_t window, const std::string& options);

}  // namespace heed
