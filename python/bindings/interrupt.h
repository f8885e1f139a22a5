// Ctrl-C while heed computes: whoever runs long without the interpreter's lock asks now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace heed::python {

/// Called often, it looks for signals at most twenty times a second, and throws what Python's
/// handler of one raises: KeyboardInterrupt, as a rule. Python handles signals in its main thread
/// alone.
class InterruptCheck {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace heed::python
