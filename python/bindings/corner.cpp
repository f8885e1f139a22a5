#include "python/bindings/corner.h"

#include <string>

#include "heed/base/error.h"
#include "python/bindings/number.h"
#include "python/bindings/python_error.h"

namespace heed::python {

namespace nb = nanobind;

Corner corner_of(nb::handle corner) {
  if (const auto offset = whole_number_in(corner)) return Corner::offset(*offset);
  if (!nb::isinstance<nb::str>(corner)) {
    throw_type_error("corner: give 'top_left', 'bottom_right' or a whole number");
  }
  const std::string name = nb::cast<nb::str>(corner).c_str();
  if (name == "top_left") return Corner::top_left;
  HEED_CHECK(name == "bottom_right",
             "corner '{}': give 'top_left', 'bottom_right' or the key at which the first query "
             "stands",
             name);
  return Corner::bottom_right;
}

}  // namespace heed::python
