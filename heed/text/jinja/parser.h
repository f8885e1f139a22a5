// Parses a chat template. What it does not know is refused with its line.
#pragma once

#include <string_view>

#include "heed/text/jinja/ast.h"

namespace heed::jinja {

/// The statements of a template. `name` begins messages.
Body parse(std::string_view source, std::string_view name);

}  // namespace heed::jinja
