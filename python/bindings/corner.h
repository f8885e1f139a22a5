// Corners by their names in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "heed/attention/corner.h"

namespace heed::python {

/// "top_left", "bottom_right", or the index of the key at the position of the first query.
Corner corner_of(nanobind::handle corner);

}  // namespace heed::python
