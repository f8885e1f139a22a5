// Arrays of other libraries as tensors, and tensors as their arrays. Memory is shared wherever its
// layout allows: reading needs the buffer protocol or DLPack, and results go back in the type that
// the caller's own array has.
#pragma once

// The casters of std types are part of what nb::cast means: a file without them would make another
// function of the same name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "heed/tensor/tensor.h"

namespace heed::python {

namespace nb = nanobind;

/// An array that was given.
struct Array {
  Tensor tensor;
  nb::handle object;  ///< The caller's own; the tensor keeps it alive.
  DType dtype;        ///< Of the caller's elements, as near as heed has it.
  bool half = false;  ///< It is of 16-bit floats, which heed does not compute in: a copy in f32.
};

/// `name` is the argument's, for messages. Throws TypeError for what is no array on the CPU. The
/// tensor is a copy where elements are not aligned, strides are negative, or floats have 16 bits.
Array array_of(const char* name, nb::handle object);

/// An array to be written to; TypeError if it is read-only or only a copy of it could be.
Tensor writable_tensor_of(const char* name, nb::handle object);

/// TypeError if its elements are not floating point.
void check_floats(const char* name, const Array& array);

/// The memory of an array of floating point; TypeError if it has other elements.
Array floats_of(const char* name, nb::handle object);

/// Whole numbers from an array of i32 or i64, or from a list.
Tensor integers_of(const char* name, nb::handle object);

/// A result as an array of the library that `like` comes from. Floats become 16-bit floats if those
/// of `like` are.
nb::object to_array(const Tensor& result, const Array& like);

/// A result as a NumPy array.
nb::object to_numpy(const Tensor& result);

/// Whether the object's type was defined in the package, or in a module of it.
bool is_of(std::string_view package, nb::handle object);

/// Whether it is one of JAX's arrays, which are never to be written to.
bool is_of_jax(nb::handle object);

/// For messages: "numpy.ndarray".
std::string type_of(nb::handle object);

/// Whether no two elements lie in one place. Strides that interleave are taken for overlapping.
bool elements_apart(const Tensor& x);

/// Whether two tensors have a byte in common, or might have: the ranges they span meet.
bool may_overlap(const Tensor& a, const Tensor& b);

}  // namespace heed::python
