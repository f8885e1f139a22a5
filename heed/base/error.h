// The exception type for users of heed, and the assertion for bugs in heed. A user's mistake
// (shape, dtype, option, file) throws heed::Error; a bug in heed fails a HEED_ASSERT, which throws
// heed::InternalError. The library never prints, exits or aborts.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

/// A mistake in the caller's input: the message says what is wrong, where, and what would be right.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug in heed itself; please report it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Error with a formatted message; kept out of line so that checks stay small in hot
/// functions.
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(fmt::format_string<Args...> format,
                                                 Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn, gnu::cold]] inline void assertion_failed(const char* condition, const char* file,
                                                     int line) {
  throw InternalError(fmt::format("heed bug: {} does not hold at {}:{}", condition, file, line));
}

}  // namespace heed

/// HEED_CHECK(condition, "[op] what is wrong: {}", detail) throws heed::Error if the condition
/// fails.
#define HEED_CHECK(condition, ...) \
  do {                             \
    if (!(condition)) [[unlikely]] \
      ::heed::fail(__VA_ARGS__);   \
  } while (false)

/// Throws heed::InternalError if the condition fails, which can only be a bug in heed.
#define HEED_ASSERT(condition)                                  \
  do {                                                          \
    if (!(condition)) [[unlikely]]                              \
      ::heed::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)
