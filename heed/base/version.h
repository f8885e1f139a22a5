// The version of the linked library, which may differ from that of the headers.
#pragma once

#include <string_view>

namespace heed {

/// "major.minor.patch".
std::string_view version();

}  // namespace heed
