// The fields of a config as keyword arguments of a Python function: names, defaults and help come
// from the config's own list.
#pragma once

#include <string>

#include "heed/io/fields.h"
#include "python/bindings/array.h"

namespace heed::python {

/// Sets fields from keyword arguments. TypeError for an unknown name (the message has the nearest
/// one) and for a value of another type; heed::Error for a value out of range.
void read_options(io::Fields& fields, const char* function, const nb::kwargs& options);

/// The same for a whole config, which is then validated.
template <io::Section C>
C options_of(C config, const char* function, const nb::kwargs& options) {
  io::Fields fields(config);
  read_options(fields, function, options);
  fields.validate(std::string(function) + "()");
  return config;
}

/// "def translate(self, text: str, *, beam_size: int = 5, …) -> str", from the texts before and
/// after the options.
std::string signature(const std::string& before, const io::Fields& fields,
                      const std::string& after);
/// The given paragraphs, then a line for each option.
std::string help(const std::string& about, const io::Fields& fields);

}  // namespace heed::python
