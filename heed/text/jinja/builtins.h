// The filters, tests and methods of chat templates. Errors have no line; the interpreter adds it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

/// Evaluated arguments.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  std::size_t size() const { return positional.size() + named.size(); }
  /// The argument at a position or of a name; null if it is absent.
  const Value* find(std::size_t position, std::string_view name) const;
};

/// value | name(arguments)
Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments);
/// value is name(arguments)
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments);
/// object.name(arguments)
Value call_method(const Value& object, std::string_view name, const Arguments& arguments);

/// The elements of a list, the characters of a string or the keys of a dict; none of an undefined
/// value.
List elements_of(const Value& value);
/// object[index], also with a negative index; undefined if it does not exist.
Value member_of(const Value& object, const Value& index);
/// object[from:to:step] as in Python; null bounds are open.
Value slice_of(const Value& object, const Value* from, const Value* to, const Value* step);

}  // namespace heed::jinja
