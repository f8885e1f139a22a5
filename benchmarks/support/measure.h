// Timing of the benchmarks: heed and the peer in turn (A B A B …), and the best time of each,
// because on a shared machine only the least disturbed run shows the speed of the code. With
// HEED_BENCH_CLOCK=cpu, times are CPU times of the process, for a machine that others keep busy.
// Whole models are measured on one thread then, because threads that wait for work count too.
#pragma once

#include <time.h>  // clock_gettime

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "heed/base/threads.h"

namespace heed::bench {

inline bool counts_cpu_time() {
  const char* const clock = std::getenv("HEED_BENCH_CLOCK");
  return clock != nullptr && std::string_view(clock) == "cpu";
}

inline double now() {
  static const bool cpu = counts_cpu_time();
  if (cpu) {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Seconds of one call.
template <typename F>
double seconds(F&& f) {
  const double start = now();
  f();
  return now() - start;
}

/// The number of calls of f that makes one measurement long enough for the clock.
template <typename F>
int calls_for(F&& f, double at_least = 0.01) {
  f();  // first touch, first allocation
  const double once = seconds(f);
  return std::clamp(static_cast<int>(at_least / std::max(once, 1e-9)), 1, 100000);
}

/// Seconds per call over `calls` calls.
template <typename F>
double per_call(F&& f, int calls) {
  return seconds([&] {
           for (int i = 0; i < calls; ++i) f();
         }) /
         calls;
}

/// The best times of two functions measured in turn.
template <typename A, typename B>
std::pair<double, double> interleave(A&& a, B&& b, int rounds = 15) {
  const int calls_a = calls_for(a);
  const int calls_b = calls_for(b);
  double best_a = std::numeric_limits<double>::infinity();
  double best_b = best_a;
  for (int i = 0; i < rounds; ++i) {
    best_a = std::min(best_a, per_call(a, calls_a));
    best_b = std::min(best_b, per_call(b, calls_b));
  }
  return {best_a, best_b};
}

template <typename F>
double best_of(F&& f, int rounds = 15) {
  const int calls = calls_for(f);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) best = std::min(best, per_call(f, calls));
  return best;
}

/// Sets the number of threads during its lifetime.
class Threads {
 public:
  explicit Threads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace heed::bench
