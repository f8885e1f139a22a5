// Memory of arrays by the buffer protocol.
#include "python/bindings/foreign_memory.h"

#include <bit>

#include "python/bindings/array.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

std::optional<DType> integer_of_size(Py_ssize_t bytes) {
  if (bytes == 4) return DType::i32;
  if (bytes == 8) return DType::i64;
  return {};
}

// The element type of a format in the letters of `struct`; other byte orders are not supported.
std::optional<Element> element_of(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return Element{DType::u8};
  if (*format == '@' || *format == '=' ||
      (*format == '<' && std::endian::native == std::endian::little)) {
    ++format;
  }
  if (format[0] == '\0' || format[1] != '\0') return {};
  switch (format[0]) {
    case 'f':
      return Element{DType::f32};
    case 'd':
      return Element{DType::f64};
    case 'e':
      return Element{DType::f32, true};
    case '?':
      return Element{DType::boolean};
    case 'B':
      return Element{DType::u8};
    case 'i':
    case 'l':
    case 'q':
      if (const auto dtype = integer_of_size(bytes)) return Element{*dtype};
      return {};
    default:
      return {};
  }
}

std::shared_ptr<Py_buffer> keep(const Py_buffer& buffer) {
  return {new Py_buffer(buffer), [](Py_buffer* kept) {
            with_interpreter([&] { PyBuffer_Release(kept); });
            delete kept;
          }};
}

}  // namespace

Dims dims_of(const char* name, const std::int64_t* values, int rank) {
  HEED_CHECK(rank <= kMaxRank, "{} has {} axes: at most {} are supported", name, rank, kMaxRank);
  return Dims(std::span(values, static_cast<std::size_t>(rank)));
}

// None if the object has no buffer, or NumPy cannot describe the elements (those of ml_dtypes).
std::optional<ForeignMemory> by_buffer(const char* name, nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return {};
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return {};
  }
  auto keeper = keep(buffer);
  const std::optional<Element> element = element_of(buffer.format, buffer.itemsize);
  if (!element) {
    throw_type_error(
        "{}: {} has elements of format '{}': heed takes floats of 16, 32 and 64 bits, bfloat16, "
        "int32, int64, uint8 and bool of this machine's byte order",
        name, type_of(object), buffer.format);
  }
  ForeignMemory memory;
  memory.data = static_cast<const std::byte*>(buffer.buf);
  memory.element = *element;
  memory.shape = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.shape), buffer.ndim);
  memory.steps = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.strides), buffer.ndim);
  memory.read_only = buffer.readonly != 0;
  memory.keeper = std::move(keeper);
  return memory;
}
static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

// Arrays of NumPy's extension ml_dtypes have no buffer; their bits viewed as integers do.
std::optional<ForeignMemory> by_bits(const char* name, nb::handle object) {
  if (!nb::hasattr(object, "__array_interface__") || !nb::hasattr(object, "dtype")) return {};
  if (nb::cast<std::string>(object.attr("dtype").attr("name")) != "bfloat16") return {};
  const nb::object bits = object.attr("view")("int16");
  Py_buffer buffer;
  if (PyObject_GetBuffer(bits.ptr(), &buffer, PyBUF_STRIDED_RO) != 0) throw nb::python_error();
  ForeignMemory memory;
  memory.keeper = keep(buffer);
  memory.data = static_cast<const std::byte*>(buffer.buf);
  memory.element = {DType::bf16};
  memory.shape = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.shape), buffer.ndim);
  memory.steps = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.strides), buffer.ndim);
  memory.read_only = buffer.readonly != 0;
  return memory;
}

}  // namespace heed::python
