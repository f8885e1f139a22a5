// Signals that wait. A signal handler runs on the stack of the thread that it interrupts. Code that
// uses the stack pointer for something else must not be interrupted: oneDNN's matrix products put
// the address of a heap buffer there, so a handler (Ctrl-C in Python, a profiler's timer)
// overwrites what lies before that buffer. Mended in oneDNN 3.11.2; Debian 12 has 2.6.
#pragma once

#include <csignal>

namespace heed {

/// While it lives, signals of other causes than the thread's own instructions wait until it ends.
/// Blocks may be nested; only the outermost one calls the system (0.5 us on Zen 4, virtualised).
class SignalBlock {
 public:
  SignalBlock() noexcept;
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;  // of the outermost block
};

}  // namespace heed
