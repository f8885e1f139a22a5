// Python's dicts, lists, texts and numbers as the neutral tree that configs are read from, and
// back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/value.h"
#include "python/bindings/array.h"

namespace heed::python {

/// What was given under that name; TypeError for what no config can hold. Paths become texts;
/// NumPy's numbers and arrays are what their tolist() gives.
io::Value value_of(const std::string& name, nb::handle object);

/// A tree as dicts and lists.
nb::object object_of(const io::Value& value);

/// A text, or TypeError.
std::string text_of(const std::string& name, nb::handle object);
/// A list of texts from anything that can be iterated; a text alone is a TypeError.
std::vector<std::string> texts_of(const char* name, nb::handle object);
/// A str or an os.PathLike.
std::filesystem::path path_of(const char* name, nb::handle object);

/// A text as Python's: bytes that are no UTF-8 are replaced.
nb::str to_str(std::string_view text);

}  // namespace heed::python
