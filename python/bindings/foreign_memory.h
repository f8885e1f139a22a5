// The memory of an array that heed does not own, as its owner describes it, and the protocols to
// get it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "heed/base/dtype.h"
#include "heed/base/shape.h"

namespace heed::python {

/// The type of an array's elements.
struct Element {
  DType dtype = DType::f32;
  bool half = false;  ///< 16-bit floats, which become f32.
  std::size_t bytes() const { return half ? 2 : size_of(dtype); }
};

struct ForeignMemory {
  const std::byte* data = nullptr;
  Element element;
  Shape shape;
  Dims steps;  ///< Strides in bytes.
  bool read_only = false;
  std::shared_ptr<const void> keeper;  ///< Keeps the memory alive; may be released in any thread.
};

// Each tries one protocol; none if the object does not support it. `name` is that of the argument,
// for messages.

/// The buffer protocol. NumPy cannot describe the elements of ml_dtypes by it.
std::optional<ForeignMemory> by_buffer(const char* name, nanobind::handle object);
/// bfloat16 of NumPy's extension ml_dtypes, by the buffer of its bits.
std::optional<ForeignMemory> by_bits(const char* name, nanobind::handle object);
/// DLPack's C interface.
std::optional<ForeignMemory> by_exchange(const char* name, nanobind::handle object);
/// DLPack's capsules.
std::optional<ForeignMemory> by_dlpack(const char* name, nanobind::handle object);

/// Sizes or strides; throws heed::Error if there are too many.
Dims dims_of(const char* name, const std::int64_t* values, int rank);

/// Runs f with the interpreter's lock, or does nothing if the interpreter has ended.
template <typename F>
void with_interpreter(const F& f) {
  if (Py_IsInitialized() == 0) return;
  const nanobind::gil_scoped_acquire gil;
  f();
}

}  // namespace heed::python
