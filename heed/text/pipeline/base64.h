// Base64 (RFC 4648), in which JSON holds bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::pipeline {

/// Bytes as base64, with padding.
std::string to_base64(std::string_view bytes);

/// The bytes of a base64 text; nothing if it is not one.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace heed::pipeline
