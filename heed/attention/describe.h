// The lists of mechanisms, position codes and masks as a tree, for JSON and Python.
#pragma once

#include "heed/io/value.h"

namespace heed {

/// "mechanisms", "positions" and "masks", each a list of tables.
io::Value describe_mechanisms();

}  // namespace heed
