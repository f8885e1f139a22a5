// Cells of a grid that add to the same memory take turns, in the order of the grid: sums then have
// the same bits for any number of threads, and no cell needs its own copy.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "heed/base/arena.h"

namespace heed::kernels {

class Turns {
 public:
  /// Each cell takes one turn at each of `places`.
  explicit Turns(std::int64_t places) : next_(places) {
    std::uninitialized_value_construct_n(next_.data(), places);
  }

  /// Waits until cells 0 .. cell - 1 have passed that place. They must have been started before, as
  /// parallel_for does, otherwise this waits forever.
  void wait(std::int64_t place, std::int64_t cell) const {
    const auto& next = next_[place];
    while (next.load(std::memory_order_acquire) != cell && !abandoned_.load()) {
      std::this_thread::yield();
    }
  }
  void pass(std::int64_t place, std::int64_t cell) {
    next_[place].store(cell + 1, std::memory_order_release);
  }
  /// Called when a cell fails: ends all waiting.
  void abandon() { abandoned_.store(true); }

 private:
  Scratch<std::atomic<std::int64_t>> next_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace heed::kernels
