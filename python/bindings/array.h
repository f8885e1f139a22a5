// Converts arrays of other libraries to tensors and back. Memory is shared wherever its layout
// allows. Reading uses the buffer protocol or DLPack; results have the array type of the caller.
#pragma once

// The casters of std types are part of the definition of nb::cast: a file without them would define
// a different function of the same name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "heed/tensor/tensor.h"

namespace heed::python {

namespace nb = nanobind;

/// An array argument.
struct Array {
  Tensor tensor;
  nb::handle object;  ///< The caller's object; the tensor keeps it alive.
  DType dtype;        ///< Of the caller's elements, or the nearest dtype that heed has.
  bool half = false;  ///< The elements are 16-bit floats, which heed does not compute in: the
                      ///< tensor is a copy in f32.
};

/// `name` is that of the argument, for messages. Throws TypeError for anything but an array on the
/// CPU. The tensor is a copy if elements are not aligned, strides are negative, or floats have 16
/// bits.
Array array_of(const char* name, nb::handle object);

/// An array to write to; TypeError if it is read-only or would have to be copied.
Tensor writable_tensor_of(const char* name, nb::handle object);

/// TypeError if its elements are not floating point.
void check_floats(const char* name, const Array& array);

/// An array of floating point numbers; TypeError for other elements.
Array floats_of(const char* name, nb::handle object);

/// Integers from an array of i32 or i64, or from a list.
Tensor integers_of(const char* name, nb::handle object);

/// Converts a result to an array of the library that `like` comes from. The result has 16-bit
/// floats if `like` has.
nb::object to_array(const Tensor& result, const Array& like);

/// Converts a result to a NumPy array.
nb::object to_numpy(const Tensor& result);

/// Whether the object's type is defined in the package or one of its modules.
bool is_of(std::string_view package, nb::handle object);

/// Whether it is a JAX array, which must not be written to.
bool is_of_jax(nb::handle object);

/// For messages: "numpy.ndarray".
std::string type_of(nb::handle object);

/// Whether no two elements share memory. Strides that interleave count as overlapping.
bool elements_apart(const Tensor& x);

/// Whether the memory ranges of two tensors overlap.
bool may_overlap(const Tensor& a, const Tensor& b);

}  // namespace heed::python
