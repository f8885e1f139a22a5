// Base64 (RFC 4648): bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace heed::io {

/// Bytes in base64, with padding.
std::string to_base64(std::string_view bytes);

}  // namespace heed::io
