// Arrays that come in: by the buffer protocol (NumPy), by DLPack's C interface (PyTorch), or by
// DLPack's capsules (JAX and all others), whichever is the shortest way to the memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "python/bindings/array.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/exchange.h"
#include "python/bindings/half.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

// What an array's elements are.
struct Element {
  DType dtype = DType::f32;
  bool half = false;
  std::size_t bytes() const { return half ? sizeof(Half) : size_of(dtype); }
};

// An array's memory as its owner describes it.
struct Memory {
  const std::byte* data = nullptr;
  Element element;
  Shape shape;
  Dims steps;  // strides in bytes
  bool read_only = false;
  std::shared_ptr<const void> keeper;
};

// Lets go of something of Python's from whatever thread, and not at all once the interpreter ends.
template <typename F>
void with_interpreter(const F& f) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire gil;
  f();
}

Dims dims_of(const char* name, const std::int64_t* values, int rank) {
  HEED_CHECK(rank <= kMaxRank, "{} has {} axes: at most {} are supported", name, rank, kMaxRank);
  return Dims(std::span(values, static_cast<std::size_t>(rank)));
}

// ---- the buffer protocol ----

std::optional<DType> integer_of_size(Py_ssize_t bytes) {
  if (bytes == 4) return DType::i32;
  if (bytes == 8) return DType::i64;
  return {};
}

// Of a format in struct's letters; those of other byte orders are none of ours.
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

// None if the object has no buffer, or NumPy cannot describe the elements (those of ml_dtypes).
std::optional<Memory> by_buffer(const char* name, nb::handle object) {
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
  Memory memory;
  memory.data = static_cast<const std::byte*>(buffer.buf);
  memory.element = *element;
  memory.shape = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.shape), buffer.ndim);
  memory.steps = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.strides), buffer.ndim);
  memory.read_only = buffer.readonly != 0;
  memory.keeper = std::move(keeper);
  return memory;
}
static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

// Numbers of NumPy's extension ml_dtypes have no buffer; their bits as whole numbers do.
std::optional<Memory> by_bits(const char* name, nb::handle object) {
  if (!nb::hasattr(object, "__array_interface__") || !nb::hasattr(object, "dtype")) return {};
  if (nb::cast<std::string>(object.attr("dtype").attr("name")) != "bfloat16") return {};
  const nb::object bits = object.attr("view")("int16");
  Py_buffer buffer;
  if (PyObject_GetBuffer(bits.ptr(), &buffer, PyBUF_STRIDED_RO) != 0) throw nb::python_error();
  Memory memory;
  memory.keeper = keep(buffer);
  memory.data = static_cast<const std::byte*>(buffer.buf);
  memory.element = {DType::bf16};
  memory.shape = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.shape), buffer.ndim);
  memory.steps = dims_of(name, reinterpret_cast<const std::int64_t*>(buffer.strides), buffer.ndim);
  memory.read_only = buffer.readonly != 0;
  return memory;
}

// ---- DLPack ----

std::optional<Element> element_of(const dlpack::DataType& type) {
  if (type.lanes != 1) return {};
  switch (type.code << 8 | type.bits) {
    case dlpack::kFloat << 8 | 32:
      return Element{DType::f32};
    case dlpack::kFloat << 8 | 64:
      return Element{DType::f64};
    case dlpack::kFloat << 8 | 16:
      return Element{DType::f32, true};
    case dlpack::kBfloat << 8 | 16:
      return Element{DType::bf16};
    case dlpack::kInt << 8 | 32:
      return Element{DType::i32};
    case dlpack::kInt << 8 | 64:
      return Element{DType::i64};
    case dlpack::kUInt << 8 | 8:
      return Element{DType::u8};
    case dlpack::kBool << 8 | 8:
      return Element{DType::boolean};
    default:
      return {};
  }
}

[[noreturn]] void refuse_device(const char* name, nb::handle object, std::int32_t device_type) {
  throw_type_error("{}: {} lies on a device of DLPack's type {}, heed computes on the CPU: move it",
                   name, type_of(object), device_type);
}

Memory memory_of(const char* name, nb::handle object, const dlpack::Tensor& tensor,
                 std::shared_ptr<const void> keeper) {
  if (tensor.device.type != dlpack::kCpu && tensor.device.type != dlpack::kCudaHost) {
    refuse_device(name, object, tensor.device.type);
  }
  const std::optional<Element> element = element_of(tensor.dtype);
  if (!element) {
    throw_type_error(
        "{}: {} has elements of DLPack's type {} with {} bits: heed takes floats of 16, 32 and 64 "
        "bits, bfloat16, int32, int64, uint8 and bool",
        name, type_of(object), tensor.dtype.code, tensor.dtype.bits);
  }
  Memory memory;
  memory.data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  memory.element = *element;
  memory.shape = dims_of(name, tensor.shape, tensor.rank);
  memory.steps = tensor.strides == nullptr ? row_major(memory.shape)
                                           : dims_of(name, tensor.strides, tensor.rank);
  for (std::int64_t& step : memory.steps) step *= static_cast<std::int64_t>(element->bytes());
  memory.keeper = std::move(keeper);
  return memory;
}

template <typename Managed>
std::shared_ptr<const void> keep(Managed* managed) {
  return std::shared_ptr<const void>(managed, [managed](const void*) {
    if (managed->deleter == nullptr) return;
    with_interpreter([&] { managed->deleter(managed); });
  });
}

// Of a tensor that its library cannot hand out: mostly one without memory, or on a device.
[[noreturn]] void refuse_tensor(const char* name, nb::handle object) {
  nb::python_error error;
  if (!nb::hasattr(object, "device")) throw error;
  const nb::object device = object.attr("device");
  throw_type_error("{}: {} on device '{}' cannot be read, heed computes on the CPU: move it", name,
                   type_of(object), nb::str(device).c_str());
}

std::optional<Memory> by_exchange(const char* name, nb::handle object) {
  const dlpack::ExchangeApi* const api = exchange_api(object.type());
  if (api == nullptr) return {};
  dlpack::ManagedVersioned* managed = nullptr;
  if (api->from_object(object.ptr(), &managed) != 0) refuse_tensor(name, object);
  Memory memory = memory_of(name, object, managed->tensor, keep(managed));
  memory.read_only = (managed->flags & dlpack::kReadOnly) != 0;
  return memory;
}

// Libraries older than DLPack 1.0 know no versions.
nb::object capsule_of(const char* name, nb::handle object) {
  const nb::object method = object.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_BufferError)) {  // what DLPack has no word for
      throw_type_error("{}: {} cannot be read: {}", name, type_of(object),
                       nb::str(error.value()).c_str());
    }
    if (!error.matches(PyExc_TypeError)) throw;
    return method();
  }
}

// The capsule's content, which is ours from then on.
template <typename Managed>
Managed* take(nb::handle capsule, const char* name, const char* used_name) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return nullptr;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  PyCapsule_SetName(capsule.ptr(), used_name);
  return managed;
}

std::optional<Memory> by_dlpack(const char* name, nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) return {};
  if (nb::hasattr(object, "__dlpack_device__")) {
    const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
    const auto type = nb::cast<std::int32_t>(nb::int_(device[0]));
    if (type != dlpack::kCpu && type != dlpack::kCudaHost) refuse_device(name, object, type);
  }
  const nb::object capsule = capsule_of(name, object);
  if (auto* const managed = take<dlpack::ManagedVersioned>(capsule, "dltensor_versioned",
                                                           "used_dltensor_versioned")) {
    Memory memory = memory_of(name, object, managed->tensor, keep(managed));
    memory.read_only = (managed->flags & dlpack::kReadOnly) != 0;
    return memory;
  }
  if (auto* const managed = take<dlpack::Managed>(capsule, "dltensor", "used_dltensor")) {
    return memory_of(name, object, managed->tensor, keep(managed));
  }
  return {};
}

Memory memory_of(const char* name, nb::handle object) {
  for (const auto way : {by_buffer, by_exchange, by_dlpack}) {
    // NumPy has both ways, and both fail for elements of ml_dtypes, the second with an error.
    if (way == by_dlpack) {
      if (auto memory = by_bits(name, object)) return std::move(*memory);
    }
    if (auto memory = way(name, object)) return std::move(*memory);
  }
  throw_type_error(
      "{}: {} is no array: give one that speaks DLPack or the buffer protocol, such as "
      "numpy.asarray({})",
      name, type_of(object), name);
}

// ---- tensors ----

// Whether a tensor can show the memory itself.
bool can_be_shown(const Memory& memory) {
  const auto bytes = static_cast<std::int64_t>(memory.element.bytes());
  const bool strides_fit = std::ranges::all_of(
      memory.steps, [&](std::int64_t step) { return step >= 0 && step % bytes == 0; });
  return !memory.element.half && strides_fit &&
         reinterpret_cast<std::uintptr_t>(memory.data) % memory.element.bytes() == 0;
}

// Calls f(address) with every element in row-major order.
template <typename F>
void for_each_element(const Memory& memory, const F& f) {
  if (numel(memory.shape) == 0) return;
  const int rank = memory.shape.rank();
  Dims at = Dims::filled(rank, 0);
  const std::byte* from = memory.data;
  for (;;) {
    f(from);
    int axis = rank - 1;
    while (axis >= 0 && ++at[axis] == memory.shape[axis]) {
      from -= (memory.shape[axis] - 1) * memory.steps[axis];
      at[axis--] = 0;
    }
    if (axis < 0) return;
    from += memory.steps[axis];
  }
}

Tensor copy_of(const Memory& memory) {
  Tensor copy = empty(memory.shape, memory.element.dtype);
  if (memory.element.half) {
    float* to = copy.mutable_data<float>();
    for_each_element(memory, [&](const std::byte* from) {
      Half value;
      std::memcpy(&value, from, sizeof(value));
      *to++ = static_cast<float>(value);
    });
  } else {
    const std::size_t bytes = memory.element.bytes();
    std::byte* to = copy.storage()->data();
    for_each_element(memory, [&](const std::byte* from) {
      std::memcpy(to, from, bytes);
      to += bytes;
    });
  }
  return copy;
}

enum class Access { read, write };

Tensor shown(Memory&& memory, Access access) {
  const auto bytes = static_cast<std::int64_t>(memory.element.bytes());
  Strides strides = memory.steps;
  std::int64_t span = numel(memory.shape) == 0 ? 0 : bytes;
  for (int axis = 0; axis < strides.rank(); ++axis) {
    if (span > 0) span += (memory.shape[axis] - 1) * memory.steps[axis];
    strides[axis] /= bytes;
  }
  // An empty array may have no memory, but a tensor has.
  if (span == 0) return empty(memory.shape, memory.element.dtype);
  const auto size = static_cast<std::size_t>(span);
  auto storage =
      access == Access::write
          ? Storage::lend(const_cast<std::byte*>(memory.data), size, std::move(memory.keeper))
          : Storage::borrow(memory.data, size, std::move(memory.keeper));
  return {std::move(storage), memory.element.dtype, memory.shape, strides, 0};
}

}  // namespace

std::string type_of(nb::handle object) { return nb::type_name(object.type()).c_str(); }

bool is_of(std::string_view package, nb::handle object) {
  const auto module = nb::cast<std::string>(object.type().attr("__module__"));
  return module == package || module.starts_with(std::string(package) + ".");
}

bool is_of_jax(nb::handle object) { return is_of("jax", object) || is_of("jaxlib", object); }

Array array_of(const char* name, nb::handle object) {
  Memory memory = memory_of(name, object);
  const bool half = memory.element.half;
  const DType dtype = memory.element.dtype;
  if (!can_be_shown(memory)) return {copy_of(memory), object, dtype, half};
  return {shown(std::move(memory), Access::read), object, dtype, half};
}

Tensor writable_tensor_of(const char* name, nb::handle object) {
  Memory memory = memory_of(name, object);
  // JAX's capsules do not say that the memory is not to be written to.
  if (memory.read_only || is_of_jax(object)) {
    throw_type_error("{}: the array is read-only: give one of your own", name);
  }
  if (!can_be_shown(memory)) {
    throw_type_error(
        "{}: heed cannot write to its memory as it is laid out: give an array of floats of 32 or "
        "64 bits, or bfloat16, that are aligned and without negative strides",
        name);
  }
  return shown(std::move(memory), Access::write);
}

Tensor parameter_of(const char* name, nb::handle object, DType dtype) {
  const Array array = array_of(name, object);
  if (!is_floating(array.tensor.dtype())) {
    throw_type_error("{}: {} elements: it must be floating point", name,
                     name_of(array.tensor.dtype()));
  }
  return cast_data(array.tensor, dtype);
}

Tensor integers_of(const char* name, nb::handle object) {
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    std::vector<std::int64_t> values;
    for (const nb::handle item : nb::cast<nb::sequence>(object)) {
      std::int64_t value = 0;
      if (!nb::try_cast(item, value)) {
        throw_type_error("{}: {} is no whole number", name, nb::cast<std::string>(nb::repr(item)));
      }
      values.push_back(value);
    }
    return from_values(std::span<const std::int64_t>(values), {std::ssize(values)});
  }
  Tensor tensor = array_of(name, object).tensor;
  if (tensor.dtype() != DType::i32 && tensor.dtype() != DType::i64) {
    throw_type_error("{}: {} elements: it must be int32 or int64", name, name_of(tensor.dtype()));
  }
  return tensor;
}

bool elements_apart(const Tensor& x) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride and size
  for (int i = 0; i < x.rank(); ++i) {
    if (x.shape()[i] > 1) axes.emplace_back(x.strides()[i], x.shape()[i]);
  }
  std::ranges::sort(axes);
  std::int64_t last = 0;  // how far the axes before reach
  for (const auto& [stride, size] : axes) {
    if (stride <= last) return false;
    last += stride * (size - 1);
  }
  return true;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  const auto begin = [](const Tensor& x) {
    return x.storage()->data() + x.offset() * static_cast<std::int64_t>(size_of(x.dtype()));
  };
  const auto end = [&](const Tensor& x) {
    std::int64_t last = 0;
    for (int i = 0; i < x.rank(); ++i) last += (x.shape()[i] - 1) * x.strides()[i];
    return begin(x) + (last + 1) * static_cast<std::int64_t>(size_of(x.dtype()));
  };
  if (a.numel() == 0 || b.numel() == 0) return false;
  return begin(a) < end(b) && begin(b) < end(a);
}

}  // namespace heed::python
