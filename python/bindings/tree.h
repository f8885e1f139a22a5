// Converts Python's dicts, lists, strings and numbers to the tree that configs are read from, and
// back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/value.h"
#include "python/bindings/array.h"

namespace heed::python {

/// The value given under that name; TypeError if a config cannot hold it. Paths become strings;
/// NumPy's numbers and arrays are converted by their tolist().
io::Value value_of(const std::string& name, nb::handle object);

/// A tree as dicts and lists.
nb::object object_of(const io::Value& value);

/// A string, or TypeError.
std::string text_of(const std::string& name, nb::handle object);
/// A list of strings from any iterable; TypeError for a single string.
std::vector<std::string> texts_of(const char* name, nb::handle object);
/// An iterator over texts; a single str is a TypeError.
nb::iterator iterator_of(const char* name, nb::handle object);
/// A str or an os.PathLike.
std::filesystem::path path_of(const char* name, nb::handle object);

/// A text as a Python string; bytes that are not UTF-8 are replaced.
nb::str to_str(std::string_view text);

}  // namespace heed::python
