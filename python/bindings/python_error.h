// Errors of the bindings as Python exceptions, with a formatted message.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <utility>

namespace heed::python {

/// TypeError for an argument of a wrong type; a wrong value is heed::Error.
template <typename... Args>
[[noreturn, gnu::cold]] void throw_type_error(fmt::format_string<Args...> format, Args&&... args) {
  throw nanobind::type_error(fmt::format(format, std::forward<Args>(args)...).c_str());
}

}  // namespace heed::python
