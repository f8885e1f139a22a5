#include "python/bindings/number.h"

#include "heed/base/error.h"
#include "python/bindings/array.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

[[noreturn]] void refuse(const char* name, nb::handle object, const char* type) {
  if (is_array(object)) {
    throw_type_error(
        "{}: {} is an array, and this number cannot be learned: give {}({}) for its present value",
        name, type_of(object), type, name);
  }
  throw_type_error("{}: {}: it must be {}", name, type_of(object),
                   std::string_view(type) == "int" ? "a whole number" : "a number");
}

}  // namespace

bool is_array(nb::handle object) {
  if (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr())) return false;
  return nb::hasattr(object, "__dlpack__");
}

std::optional<double> number_in(nb::handle object) {
  double number = 0.0;
  if (is_array(object) || !nb::try_cast(object, number)) return {};
  return number;
}

std::optional<std::int64_t> whole_number_in(nb::handle object) {
  // nanobind would cut off the fraction of NumPy's floats.
  std::int64_t number = 0;
  if (is_array(object) || PyIndex_Check(object.ptr()) == 0 || !nb::try_cast(object, number)) {
    return {};
  }
  return number;
}

double Real::value(const char* name) const {
  if (const auto number = number_in(object)) return *number;
  refuse(name, object, "float");
}

std::int64_t Whole::value(const char* name) const {
  if (const auto number = whole_number_in(object)) return *number;
  HEED_CHECK(!PyLong_Check(object.ptr()), "{}: an integer beyond 64 bits: give a smaller one",
             name);
  refuse(name, object, "int");
}

}  // namespace heed::python
