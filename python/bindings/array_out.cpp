// Converts results to arrays. A result is wrapped in an object that supports the buffer protocol
// and DLPack, and the caller's library makes an array of its own type from it, without a copy.
#include <algorithm>
#include <memory>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/exchange.h"
#include "python/bindings/half.h"
#include "python/bindings/imported.h"

namespace heed::python {
namespace {

// The exported memory: elements of two bytes may be 16-bit floats of either kind.
struct Memory {
  Tensor tensor;
  bool half = false;
  Dims steps = {};  // strides in bytes, for the buffer protocol
};

dlpack::DataType element_type(const Memory& memory) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(memory.tensor.dtype()));
  switch (memory.tensor.dtype()) {
    case DType::f32:
    case DType::f64:
      return {dlpack::kFloat, bits, 1};
    case DType::bf16:
      return {memory.half ? dlpack::kFloat : dlpack::kBfloat, bits, 1};
    case DType::i32:
    case DType::i64:
      return {dlpack::kInt, bits, 1};
    case DType::u8:
      return {dlpack::kUInt, bits, 1};
    case DType::boolean:
      return {dlpack::kBool, bits, 1};
  }
  HEED_ASSERT(false);
}

const char* format_of(const Memory& memory) {
  switch (memory.tensor.dtype()) {
    case DType::f32:
      return "f";
    case DType::f64:
      return "d";
    case DType::bf16:
      return memory.half ? "e" : "H";
    case DType::i32:
      return "i";
    case DType::i64:
      return "q";
    case DType::u8:
      return "B";
    case DType::boolean:
      return "?";
  }
  HEED_ASSERT(false);
}

void* address_of(const Memory& memory) {
  const Tensor& x = memory.tensor;
  return x.storage()->data() + x.offset() * static_cast<std::int64_t>(size_of(x.dtype()));
}

// ---- the buffer protocol ----

int get_buffer(PyObject* self, Py_buffer* view, int) {
  const auto& memory = *nb::inst_ptr<Memory>(self);
  const Tensor& x = memory.tensor;
  const auto bytes = static_cast<Py_ssize_t>(size_of(x.dtype()));
  Py_INCREF(self);
  view->obj = self;
  view->buf = address_of(memory);
  view->itemsize = bytes;
  view->len = x.numel() * bytes;
  view->readonly = 0;
  view->ndim = x.rank();
  view->format = const_cast<char*>(format_of(memory));
  view->shape = reinterpret_cast<Py_ssize_t*>(const_cast<std::int64_t*>(x.shape().begin()));
  view->strides = reinterpret_cast<Py_ssize_t*>(const_cast<std::int64_t*>(memory.steps.begin()));
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

// ---- DLPack ----

// One of DLPack's structs and the memory that it points to.
template <typename Managed>
struct Export {
  Managed managed{};
  Memory memory;
};

template <typename Managed>
Managed* make_export(const Memory& memory) {
  auto* const exported = new Export<Managed>{.memory = memory};
  Tensor& x = exported->memory.tensor;
  Managed& managed = exported->managed;
  managed.tensor = {address_of(exported->memory),
                    {dlpack::kCpu, 0},
                    x.rank(),
                    element_type(memory),
                    const_cast<std::int64_t*>(x.shape().begin()),
                    const_cast<std::int64_t*>(x.strides().begin()),
                    0};
  managed.context = exported;
  managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->context); };
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) managed.version = {1, 0};
  return &managed;
}

// A capsule that was not consumed must free its content.
template <typename Managed>
nb::object capsule_of(const Memory& memory, const char* name) {
  Managed* const managed = make_export<Managed>(memory);
  PyObject* const capsule = PyCapsule_New(managed, name, [](PyObject* self) {
    const char* const now = PyCapsule_GetName(self);
    if (now == nullptr || std::string_view(now).starts_with("used")) return;
    auto* const unused = static_cast<Managed*>(PyCapsule_GetPointer(self, now));
    unused->deleter(unused);
  });
  if (capsule == nullptr) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object dlpack_capsule(const Memory& memory, nb::handle max_version) {
  if (!max_version.is_none() && nb::cast<int>(max_version[0]) >= 1) {
    return capsule_of<dlpack::ManagedVersioned>(memory, "dltensor_versioned");
  }
  return capsule_of<dlpack::Managed>(memory, "dltensor");
}

// ---- libraries ----

constinit Imported numpy_asarray("numpy", "asarray");
constinit Imported numpy_ndarray("numpy", "ndarray");

nb::object exported(Memory memory) {
  const auto bytes = static_cast<std::int64_t>(size_of(memory.tensor.dtype()));
  memory.steps = memory.tensor.strides();
  for (std::int64_t& step : memory.steps) step *= bytes;
  return nb::cast(std::move(memory));
}

nb::object numpy_array(Memory memory) { return numpy_asarray.get()(exported(std::move(memory))); }

nb::object exchanged(const dlpack::ExchangeApi& api, const Memory& memory) {
  void* object = nullptr;
  if (api.to_object(make_export<dlpack::ManagedVersioned>(memory), &object) != 0) {
    throw nb::python_error();
  }
  return nb::steal(static_cast<PyObject*>(object));
}

bool is_numpy(nb::handle object) {
  const nb::handle ndarray = numpy_ndarray.get();
  return object.type().is(ndarray) || PyObject_IsInstance(object.ptr(), ndarray.ptr()) == 1;
}

}  // namespace

Tensor half_bits_of(const Tensor& x) {
  const Tensor from = contiguous_copy(cast_data(x, DType::f32));
  Tensor bits = empty(x.shape(), DType::bf16);
  std::ranges::transform(from.values<float>(), bits.mutable_data<BFloat16>(), [](float value) {
    BFloat16 word;
    word.bits = std::bit_cast<std::uint16_t>(static_cast<Half>(value));
    return word;
  });
  return bits;
}

nb::object to_numpy(const Tensor& result) { return numpy_array({result.detach()}); }

nb::object to_array(const Tensor& result, const Array& like) {
  const bool half = like.half && is_floating(result.dtype());
  const Memory memory{half ? half_bits_of(result) : result.detach(), half};
  if (const dlpack::ExchangeApi* const api = exchange_api(like.object.type())) {
    return exchanged(*api, memory);
  }
  if (is_numpy(like.object)) {
    nb::object array = numpy_array(memory);
    if (memory.tensor.dtype() != DType::bf16 || half) return array;
    return array.attr("view")(like.object.attr("dtype"));
  }
  if (is_of("torch", like.object)) {
    return nb::module_::import_("torch").attr("from_dlpack")(exported(memory));
  }
  if (is_of_jax(like.object)) {
    return nb::module_::import_("jax.dlpack").attr("from_dlpack")(exported(memory));
  }
  if (nb::hasattr(like.object, "__array_namespace__")) {
    return like.object.attr("__array_namespace__")().attr("from_dlpack")(exported(memory));
  }
  return numpy_array(memory);
}

void bind_arrays(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {0, nullptr}};
  nb::class_<Memory>(m, "Memory", nb::type_slots(slots),
                     "The memory of a result; array libraries make their arrays from it.")
      .def(
          "__dlpack__",
          [](const Memory& self, nb::handle, nb::handle max_version, nb::handle, nb::handle) {
            return dlpack_capsule(self, max_version);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def(
          "__dlpack_device__",
          [](const Memory&) { return nb::make_tuple(static_cast<int>(dlpack::kCpu), 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
}

}  // namespace heed::python
