// Ctrl-C while heed computes: long computations without the interpreter's lock check for it
// regularly.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace heed::python {

/// Checks for signals at most twenty times a second, however often it is called, and throws what
/// Python's handler raises: usually KeyboardInterrupt. Python handles signals only in its main
/// thread.
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
