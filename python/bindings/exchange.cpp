#include "python/bindings/exchange.h"

#include <array>
#include <string_view>

namespace heed::python {
namespace {

const dlpack::ExchangeApi* find(nanobind::handle type) {
  if (is_causal_bias(type)) return nullptr;  // by_dlpack refuses it
  PyObject* const capsule = PyObject_GetAttrString(type.ptr(), "__dlpack_c_exchange_api__");
  if (capsule == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* const api =
      static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  PyErr_Clear();  // the capsule has another name
  return api != nullptr && api->version.major == 1 ? api : nullptr;
}

struct Known {
  PyObject* type = nullptr;  // never released, so that no other type gets its address
  const dlpack::ExchangeApi* api = nullptr;
};

}  // namespace

bool is_causal_bias(nanobind::handle type) {
  const nanobind::str name = nanobind::type_name(type);
  return name.c_str() == std::string_view("torch.nn.attention.bias.CausalBias");
}

const dlpack::ExchangeApi* exchange_api(nanobind::handle type) {
  // A program uses one or two types of arrays; any further ones are looked up at every call. The
  // interpreter's lock protects the list.
  static std::array<Known, 8> known;
  for (Known& entry : known) {
    if (entry.type == type.ptr()) return entry.api;
    if (entry.type == nullptr) {
      Py_INCREF(type.ptr());
      entry = {type.ptr(), find(type)};
      return entry.api;
    }
  }
  return find(type);
}

}  // namespace heed::python
