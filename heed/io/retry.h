// System calls that a signal interrupts are made again.
#pragma once

#include <cerrno>

namespace heed::io {

/// Calls f, a system call that returns a negative number on failure, until no signal interrupts it.
template <typename F>
auto retry(const F& f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

}  // namespace heed::io
