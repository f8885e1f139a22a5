// The version of the library that is linked, which may differ from the headers that were compiled
// against.
#pragma once

#include <string_view>

namespace heed {

/// "major.minor.patch".
std::string_view version();

}  // namespace heed
