// Corners by name, as Python says them.
#pragma once

#include <nanobind/nanobind.h>

#include "heed/attention/corner.h"

namespace heed::python {

/// "top_left", "bottom_right", or the key at which the first query stands.
Corner corner_of(nanobind::handle corner);

}  // namespace heed::python
