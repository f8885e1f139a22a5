// The interpreter's lock, let go while heed computes.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace heed::python {

/// While it lives, other threads of Python's run. nanobind's gil_scoped_release is the same but for
/// the end of the process: up to 3.13 Python unwinds a thread that then asks for the lock, which
/// the frames of C++ turn into an abort. Here the thread waits for the end, as in later Pythons.
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
