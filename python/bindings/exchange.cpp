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

// A program uses one or two types of arrays; any further ones are looked up at every call. The
// interpreter's lock protects the list.
constinit std::array<Known, 8> known_types = {};

}  // namespace

bool is_causal_bias(nanobind::handle type) {
  const nanobind::str name = nanobind::type_name(type);
  return name.c_str() == std::string_view("torch.nn.attention.bias.CausalBias");
}

const dlpack::ExchangeApi* exchange_api(nanobind::handle type) {
  for (const Known& entry : known_types) {
    if (entry.type == type.ptr()) return entry.api;
  }
  // May run Python code, and so let another thread add types, this one among them.
  const dlpack::ExchangeApi* const api = find(type);
  for (Known& entry : known_types) {
    if (entry.type == type.ptr()) break;
    if (entry.type != nullptr) continue;
    Py_INCREF(type.ptr());
    entry = {type.ptr(), api};
    break;
  }
  return api;
}

}  // namespace heed::python
