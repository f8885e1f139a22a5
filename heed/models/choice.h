// Mechanisms and position codes as models' configs name them, in one text each: a name and, where
// its defaults do not do, options.
//
//   encoder_attention = "restricted left=8 right=8"
//   positions = "shaw clip=16"
#pragma once

#include <string_view>

#include "heed/attention/position.h"
#include "heed/attention/registry.h"

namespace heed {

/// "name key=value key=value" as a choice; throws unless a mechanism has this name and these keys.
AttentionChoice parse_attention(std::string_view text);

/// "name key=value key=value" as a position code.
PositionConfig parse_positions(std::string_view text);

/// The choice with a code that acts inside attention among its options; one that does not leaves it
/// as it is. Throws if the mechanism takes no codes.
AttentionChoice with_positions(AttentionChoice choice, const PositionConfig& position);

}  // namespace heed
