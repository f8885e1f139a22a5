// Whether the tests run under a sanitizer, about ten times slower. Sanitizers find wrong accesses
// and races; repeating the same path does not find more of them. A test that repeats a path
// thousands of times, to measure differences or frequencies, takes fewer repetitions there.
//
// Under the address sanitizer only the library is compiled with it, so tests ask at run time.
#pragma once

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace heed::test {

inline bool has_address_sanitizer() { return &__asan_init != nullptr; }
inline bool is_sanitized() { return has_address_sanitizer() || &__tsan_init != nullptr; }

}  // namespace heed::test
