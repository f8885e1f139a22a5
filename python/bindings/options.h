// The fields of a config as keyword arguments of a Python function: names, defaults and help come
// from the config's own list.
#pragma once

#include <string>

#include "heed/io/fields.h"
#include "python/bindings/array.h"

namespace heed::python {

/// Sets fields from keyword arguments. TypeError for a name there is none of (with the nearest) and
/// for a value of another type; what is out of range is heed::Error.
void read_options(io::Fields& fields, const char* function, const nb::kwargs& options);

/// The same for a config, which is checked as a whole.
template <io::Section C>
C options_of(C config, const char* function, const nb::kwargs& options) {
  io::Fields fields(config);
  read_options(fields, function, options);
  fields.validate(std::string(function) + "()");
  return config;
}

/// "def translate(self, text: str, *, beam_size: int = 5, …) -> str", given what stands before and
/// behind the options.
std::string signature(const std::string& before, const io::Fields& fields,
                      const std::string& behind);
/// The first paragraphs and a line for each option.
std::string help(const std::string& about, const io::Fields& fields);

}  // namespace heed::python
