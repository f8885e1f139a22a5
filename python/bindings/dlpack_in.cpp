// Memory of arrays by DLPack: the C interface of a type (PyTorch), or capsules (JAX and all
// others).
#include "python/bindings/array.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/exchange.h"
#include "python/bindings/foreign_memory.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

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

ForeignMemory memory_of(const char* name, nb::handle object, const dlpack::Tensor& tensor,
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
  ForeignMemory memory;
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

// Throws for a tensor that its library cannot export: usually one without memory, or on a device.
[[noreturn]] void refuse_tensor(const char* name, nb::handle object) {
  nb::python_error error;
  if (!nb::hasattr(object, "device")) throw error;
  const std::string device = nb::str(nb::object(object.attr("device"))).c_str();
  if (device == "cpu") {
    const std::string why = nb::str(error.value()).c_str();  // after the first line, a stack trace
    throw_type_error(
        "{}: {} has no memory that heed can read ({}): inside torch.func and torch.compile use "
        "heed.torch.scaled_dot_product_attention",
        name, type_of(object), why.substr(0, why.find('\n')));
  }
  throw_type_error("{}: {} on device '{}' cannot be read, heed computes on the CPU: move it", name,
                   type_of(object), device);
}

// Elements of a PyTorch view such as z.conj().imag are the negatives of what its memory holds.
// Returns a tensor that holds the elements themselves; the object itself if it does.
nb::object with_own_sign(nb::handle object) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* const answer = PyObject_CallMethodNoArgs(object.ptr(), is_neg);
  if (answer == nullptr) PyErr_Clear();  // another library's
  const bool negated = answer == Py_True;
  Py_XDECREF(answer);
  return negated ? nb::object(object.attr("resolve_neg")()) : nb::borrow(object);
}

// Libraries older than DLPack 1.0 do not support versions.
nb::object ask(nb::handle object) {
  const nb::object method = object.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return method();
  }
}

nb::object capsule_of(const char* name, nb::handle object) {
  try {
    return ask(object);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
    // Types that DLPack cannot describe.
    throw_type_error("{}: {} cannot be read: {}", name, type_of(object),
                     nb::str(error.value()).c_str());
  }
}

// The content of a capsule, which the caller then owns.
template <typename Managed>
Managed* take(nb::handle capsule, const char* name, const char* used_name) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return nullptr;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  PyCapsule_SetName(capsule.ptr(), used_name);
  return managed;
}

}  // namespace

std::optional<ForeignMemory> by_exchange(const char* name, nb::handle object) {
  const dlpack::ExchangeApi* const api = exchange_api(object.type());
  if (api == nullptr) return {};
  const nb::object given = with_own_sign(object);
  dlpack::ManagedVersioned* managed = nullptr;
  if (api->from_object(given.ptr(), &managed) != 0) refuse_tensor(name, object);
  ForeignMemory memory = memory_of(name, object, managed->tensor, keep(managed));
  memory.read_only = (managed->flags & dlpack::kReadOnly) != 0 || !given.is(object);
  return memory;
}

std::optional<ForeignMemory> by_dlpack(const char* name, nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) return {};
  if (is_causal_bias(object.type())) {
    throw_type_error(
        "{}: a CausalBias has no elements: give heed.causal() or heed.causal('bottom_right')",
        name);
  }
  const nb::object given = with_own_sign(object);
  if (nb::hasattr(object, "__dlpack_device__")) {
    const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
    const auto type = nb::cast<std::int32_t>(nb::int_(device[0]));
    if (type != dlpack::kCpu && type != dlpack::kCudaHost) refuse_device(name, object, type);
  }
  const nb::object capsule = capsule_of(name, given);
  if (auto* const managed = take<dlpack::ManagedVersioned>(capsule, "dltensor_versioned",
                                                           "used_dltensor_versioned")) {
    ForeignMemory memory = memory_of(name, object, managed->tensor, keep(managed));
    memory.read_only = (managed->flags & dlpack::kReadOnly) != 0 || !given.is(object);
    return memory;
  }
  if (auto* const managed = take<dlpack::Managed>(capsule, "dltensor", "used_dltensor")) {
    ForeignMemory memory = memory_of(name, object, managed->tensor, keep(managed));
    memory.read_only = !given.is(object);
    return memory;
  }
  return {};
}

}  // namespace heed::python
