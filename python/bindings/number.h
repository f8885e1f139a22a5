// Numbers as arguments. The rule is the same for all of them: a number is a constant, and an array
// is not. An array of one element would convert to a number too, but its gradient and its later
// changes in place would be lost without a word. Stages with a parameter that may be learned take
// an array of any size as that parameter; all others refuse arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

namespace heed::python {

/// Whether it is an array of any library, also one without axes. NumPy's scalars are numbers.
bool is_array(nanobind::handle object);

/// The number, or none if it is an array or something else.
std::optional<double> number_in(nanobind::handle object);
std::optional<std::int64_t> whole_number_in(nanobind::handle object);

/// An argument that is a constant number; "float" in signatures. It is read by value(), which has
/// a better message than nanobind for what is not a number.
struct Real {
  nanobind::handle object;

  /// `name` is that of the argument. Throws TypeError for arrays and for what is not a number.
  double value(const char* name) const;
};

/// The same for whole numbers; "int" in signatures.
struct Whole {
  nanobind::handle object;

  std::int64_t value(const char* name) const;
};

}  // namespace heed::python

namespace nanobind::detail {

template <>
struct type_caster<heed::python::Real> {
  NB_TYPE_CASTER(heed::python::Real, const_name("float"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
};

template <>
struct type_caster<heed::python::Whole> {
  NB_TYPE_CASTER(heed::python::Whole, const_name("int"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
};

}  // namespace nanobind::detail
