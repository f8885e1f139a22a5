// Whether the tests run under a sanitizer, about ten times slower. Sanitizers find wrong accesses
// and races; repeating the same path does not find more of them. A test that repeats a path
// thousands of times, to measure differences or frequencies, takes fewer repetitions there.
#pragma once

namespace heed::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace heed::test
