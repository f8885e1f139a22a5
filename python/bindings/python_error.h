// Errors of the border as Python's own, with a formatted message.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <utility>

namespace heed::python {

/// What was given is of a type that will not do; a value that will not do is heed::Error.
template <typename... Args>
[[noreturn, gnu::cold]] void throw_type_error(fmt::format_string<Args...> format, Args&&... args) {
  throw nanobind::type_error(fmt::format(format, std::forward<Args>(args)...).c_str());
}

}  // namespace heed::python
