// An attribute of a Python module that is looked up at its first use and then kept.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace heed::python {

/// Declare it `constinit` at namespace scope. A static variable with an initialiser would not do:
/// the import runs Python code, which lets other threads run, and a second thread would then wait
/// for the initialiser's guard while it holds the interpreter's lock, which the import needs to
/// finish. Here two threads may both look the attribute up, and the first result is kept.
class Imported {
 public:
  constexpr Imported(const char* module, const char* name) : module_(module), name_(name) {}

  /// The attribute; call it with the interpreter's lock held.
  nanobind::handle get() {
    PyObject* known = object_.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    nanobind::object found = nanobind::module_::import_(module_).attr(name_);
    if (!object_.compare_exchange_strong(known, found.ptr())) return known;
    return found.release();  // kept until the end of the process
  }

 private:
  const char* module_;
  const char* name_;
  std::atomic<PyObject*> object_ = nullptr;
};

}  // namespace heed::python
