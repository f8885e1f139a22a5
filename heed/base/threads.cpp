// The thread pool of parallel_for. Workers take cells of one loop at a time, spin for a moment
// between loops, and then sleep.
#include "heed/base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/fork_mutex.h"
#include "heed/base/interrupt.h"
#include "heed/base/signal_block.h"
#include "heed/base/thread_team.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;
using Cell = FunctionRef<void(std::int64_t)>;

// Loops with fewer operations run serially. A core does about 10 operations per nanosecond, so this
// is about 6 us of work. A worker that still spins joins after ~0.5 us and saves half of that;
// waking a worker that sleeps takes 5-10 us, which tiny loops should not pay.
constexpr std::int64_t kSerialCutoff = 1 << 16;

// Threads take runs of cells with about this many operations, so that a grid of tiny cells does not
// spend its time on the shared counter. There are at least kRunsPerThread runs per thread, so that
// a slow thread does not delay the others.
constexpr std::int64_t kRunCost = 1 << 13;
constexpr std::int64_t kRunsPerThread = 4;

// Longer loops run in slices of about this many operations, a tenth of a second, so that they can
// be interrupted between two slices. The check may wait for a lock that a forking thread holds
// (that of Python), and a fork waits for the loop, so there is no check inside a slice.
constexpr std::int64_t kSliceCost = std::int64_t{1} << 30;

// How long a thread spins before it sleeps: long enough for the serial code between the loops of a
// training step, short enough for a shared machine.
constexpr std::chrono::microseconds kSpin{40};

// True on workers, and on a caller while its loop runs. Such a thread must not wait for the pool.
thread_local bool inside_loop = false;

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `value` differs from `old`, spinning for at most `spin` before sleeping.
template <typename T>
T wait_for_change(const std::atomic<T>& value, T old, std::chrono::nanoseconds spin) {
  if (spin.count() > 0) {
    const auto deadline = Clock::now() + spin;
    do {
      for (int i = 0; i < 16; ++i) {
        if (const T now = value.load(); now != old) return now;
        pause_cpu();
      }
    } while (Clock::now() < deadline);
  }
  value.wait(old);
  return value.load();
}

/// The CPUs this process may run on.
int usable_cpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int default_threads() {
  const char* text = std::getenv("HEED_THREADS");
  if (text == nullptr || *text == '\0') return std::min(usable_cpus(), kMaxThreads);
  const std::string_view view = text;
  int n = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), n);
  HEED_CHECK(error == std::errc{} && end == view.data() + view.size() && n >= 1 && n <= kMaxThreads,
             "[threads] HEED_THREADS is '{}': it must be a whole number from 1 to {}", view,
             kMaxThreads);
  return n;
}

/// Runs one loop at a time on a set of workers. `generation_` is odd while a loop is open. A worker
/// first increments `inside_` and then checks that the loop is still open; the caller first closes
/// the loop and then waits until `inside_` is zero. Both orders are sequentially consistent, so
/// either the worker sees that the loop is closed or the caller sees the worker inside.
class Pool {
 public:
  /// The pool of this process. It is never destroyed, because loops may still run while static
  /// objects are being destroyed; its workers are joined at exit.
  static Pool& get();

  /// Runs the loop on `threads` threads. Returns false, with nothing done, if the pool is in use or
  /// closed.
  bool try_run(std::int64_t cells, std::int64_t cell_cost, Cell cell, int threads);

  /// Ends its threads; loops run serially afterwards.
  void close();

 private:
  void work(std::uint32_t seen);
  void take_cells() noexcept;
  void note_failure(std::int64_t cell);
  void resize(int threads);
  void stop_workers();
  void before_fork();
  void after_fork(bool in_child);

  std::mutex use_;  // held by the thread that runs a loop, resizes, forks or closes
  bool closed_ = false;
  bool ends_at_exit_ = false;
  int size_ = 1;  // threads requested at the last resize, including the caller
  std::chrono::nanoseconds spin_{0};
  std::vector<std::thread> workers_;
  std::atomic<bool> stop_{false};

  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> inside_{0};

  // The open loop.
  const Cell* cell_ = nullptr;
  std::int64_t cells_ = 0;
  std::int64_t run_ = 1;
  std::atomic<std::int64_t> next_{0};
  std::mutex failure_mutex_;
  std::int64_t failed_cell_ = 0;
  std::exception_ptr failure_;
};

Pool& Pool::get() {
  static Pool* const pool = [] {
    auto* made = new Pool;
    // The cells of a loop use the arena: a fork waits for the loop first, then for the arena.
    install_fork_handlers();
    pthread_atfork([] { get().before_fork(); }, [] { get().after_fork(false); },
                   [] { get().after_fork(true); });
    return made;
  }();
  return *pool;
}

// Made when heed is loaded: a fork while another thread makes it would leave the child waiting for
// that thread.
[[maybe_unused]] const Pool& made_at_load = Pool::get();

bool Pool::try_run(std::int64_t cells, std::int64_t cell_cost, Cell cell, int threads) {
  const std::unique_lock lock(use_, std::try_to_lock);
  if (!lock || closed_) return false;
  if (threads != size_) resize(threads);
  if (workers_.empty()) return false;

  cell_ = &cell;
  cells_ = cells;
  run_ = std::clamp<std::int64_t>(kRunCost / std::max<std::int64_t>(cell_cost, 1), 1,
                                  std::max<std::int64_t>(cells / (kRunsPerThread * threads), 1));
  next_.store(0, std::memory_order_relaxed);
  failed_cell_ = cells;

  ++generation_;
  const auto helpers = static_cast<std::size_t>(std::min<std::int64_t>(cells - 1, threads - 1));
  if (helpers >= workers_.size()) {
    generation_.notify_all();
  } else {
    for (std::size_t i = 0; i < helpers; ++i) generation_.notify_one();
  }

  inside_loop = true;
  take_cells();
  inside_loop = false;

  ++generation_;
  for (std::uint32_t n = inside_.load(); n != 0;) n = wait_for_change(inside_, n, spin_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return true;
}

void Pool::work(std::uint32_t seen) {
  const SignalBlock block;
  inside_loop = true;
  for (;;) {
    seen = wait_for_change(generation_, seen, spin_);
    if (stop_.load()) return;
    if (seen % 2 == 0) continue;
    ++inside_;
    if (generation_.load() == seen) take_cells();
    --inside_;
    inside_.notify_one();
  }
}

void Pool::take_cells() noexcept {
  for (;;) {
    const std::int64_t first = next_.fetch_add(run_, std::memory_order_relaxed);
    if (first >= cells_) return;
    const std::int64_t last = std::min(first + run_, cells_);
    for (std::int64_t i = first; i < last; ++i) {
      try {
        (*cell_)(i);
      } catch (...) {
        note_failure(i);
        return;
      }
    }
  }
}

// Runs are taken in rising order, so every cell below a failed one has been taken and will finish.
// So the lowest failure, which is the one that the caller gets, does not depend on timing.
void Pool::note_failure(std::int64_t cell) {
  next_.store(cells_, std::memory_order_relaxed);
  const std::lock_guard lock(failure_mutex_);
  if (cell >= failed_cell_) return;
  failed_cell_ = cell;
  failure_ = std::current_exception();
}

void Pool::resize(int threads) {
  stop_workers();
  size_ = threads;
  // With fewer CPUs than threads, a spinning thread takes the CPU from one that has work.
  spin_ = threads <= usable_cpus() ? kSpin : std::chrono::nanoseconds{0};
  // Not when heed is loaded: what the workers' thread-local objects use, such as the caches of
  // libraries, is made later, and must be destroyed after the workers have ended.
  if (!std::exchange(ends_at_exit_, true)) {
    std::atexit([] {
      if (!inside_loop) get().close();  // else a cell called exit, and its loop can never end
    });
  }
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  // Workers block all signals; the threads of the program handle them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 1; i < threads; ++i) {
      workers_.emplace_back(&Pool::work, this, generation_.load());
    }
  } catch (const std::system_error&) {
    // The system gives no more threads; fewer threads give the same results.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pool::stop_workers() {
  stop_.store(true);
  generation_ += 2;
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  stop_.store(false);
}

void Pool::close() {
  const std::lock_guard lock(use_);
  closed_ = true;
  stop_workers();
}

// A fork waits for the running loop; the child starts with an empty pool. Inside a cell, a fork may
// only be followed by exec.
void Pool::before_fork() {
  if (!inside_loop) use_.lock();
}

void Pool::after_fork(bool in_child) {
  if (inside_loop) return;
  if (in_child) {
    // These threads do not exist in the child: they can be neither joined nor detached, only
    // dropped.
    for (std::thread& worker : workers_) std::construct_at(&worker);
    workers_.clear();
    size_ = 1;
    inside_.store(0);
  }
  use_.unlock();
}

std::atomic<int> wanted_threads{0};  // 0: not determined yet

// The threads of a team.
struct Team {
  Pool pool = {};
  int count = 1;
  pid_t process = ::getpid();  // that they belong to
};

thread_local Team* team = nullptr;  // of the innermost scope of this thread

bool worth_sharing(std::int64_t cells, std::int64_t cell_cost) {
  if (cells < 2) return false;
  const std::int64_t cost = std::max<std::int64_t>(cell_cost, 1);
  return cost >= kSerialCutoff || cells >= kSerialCutoff / cost;
}

}  // namespace

// After a fork, the child has no threads to end.
ThreadTeam::ThreadTeam(int threads)
    : size_(threads), threads_(new Team, [](void* of) {
        auto* const own = static_cast<Team*>(of);
        if (own->process != ::getpid()) return;
        own->pool.close();
        delete own;
      }) {
  HEED_CHECK(threads >= 1 && threads <= kMaxThreads, "[threads] a team of {} threads: use 1 to {}",
             threads, kMaxThreads);
  static_cast<Team*>(threads_.get())->count = threads;
}

ThreadTeam::Scope::Scope(ThreadTeam& now)
    : before_(std::exchange(team, static_cast<Team*>(now.threads_.get()))),
      was_inside_loop_(std::exchange(inside_loop, false)) {}

ThreadTeam::Scope::~Scope() {
  team = static_cast<Team*>(before_);
  inside_loop = was_inside_loop_;
}

void parallel_for(std::int64_t cells, std::int64_t cell_cost,
                  FunctionRef<void(std::int64_t)> cell) {
  if (inside_loop || !worth_sharing(cells, cell_cost)) {
    for (std::int64_t i = 0; i < cells; ++i) cell(i);
    return;
  }
  const int threads = team != nullptr ? team->count : num_threads();
  const std::int64_t slice =
      std::max(kSliceCost / std::max<std::int64_t>(cell_cost, 1), kRunsPerThread * threads);
  for (std::int64_t first = 0; first < cells; first += slice) {
    check_interrupt();
    const std::int64_t count = std::min(slice, cells - first);
    const auto shifted = [&](std::int64_t i) { cell(first + i); };
    if (threads > 1) {
      Pool& pool = team != nullptr ? team->pool : Pool::get();
      if (pool.try_run(count, cell_cost, first == 0 ? cell : shifted, threads)) continue;
    }
    for (std::int64_t i = first; i < first + count; ++i) cell(i);
  }
}

int num_threads() {
  int n = wanted_threads.load(std::memory_order_relaxed);
  if (n != 0) return n;
  n = default_threads();
  int unset = 0;
  return wanted_threads.compare_exchange_strong(unset, n) ? n : unset;
}

void set_num_threads(int n) {
  HEED_CHECK(n >= 1 && n <= kMaxThreads, "[threads] {} threads: use 1 to {}", n, kMaxThreads);
  wanted_threads.store(n);
}

}  // namespace heed
