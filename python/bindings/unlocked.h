// Releases the interpreter's lock while heed computes.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace heed::python {

/// While it lives, other Python threads can run. It differs from nanobind's gil_scoped_release only
/// at the end of the process: Python up to 3.13 unwinds a thread that requests the lock then, which
/// C++ frames turn into an abort. Here the thread waits for the end, as in later versions of
/// Python.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;) pause();
    }
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace heed::python
