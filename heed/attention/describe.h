// What the registries know of their entries, as a tree: for JSON, Python and other readers.
#pragma once

#include "heed/io/value.h"

namespace heed {

/// "mechanisms" and "positions", each a list of tables.
io::Value describe_mechanisms();

}  // namespace heed
