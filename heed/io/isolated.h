// Runs code of a library that may end the whole process, by exit() or abort(), in a child process,
// so that its end becomes an error.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/threads.h"

namespace heed::io {

/// Calls `work` in a forked child and returns its result. What it throws is thrown here:
/// heed::Error and std::bad_alloc as they are, other exceptions as std::runtime_error. If the child
/// ends in any other way, heed::Error says how, with what it wrote to standard error; `task` is the
/// beginning of the message, such as "[sentencepiece] the training".
///
/// The child has only the calling thread. glibc's memory allocator and streams work there, and so
/// do new threads. A lock that another thread held at that moment stays locked: `work` must not
/// take locks that other threads of the process use. Nothing of the process is cleaned up or
/// flushed when the child ends, and it ends with its parent. The thread sanitizer forbids threads
/// after a fork; under it `work` runs in this process.
std::string run_isolated(std::string_view task, FunctionRef<std::string()> work);

}  // namespace heed::io
