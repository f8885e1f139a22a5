// Cells of a grid that write to one place take turns there, in the order of the grid: sums then
// have the same bits for any number of threads, and no cell needs a copy of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "heed/base/arena.h"

namespace heed::kernels {

class Turns {
 public:
  /// `places` at which each cell has its turn once.
  explicit Turns(std::int64_t places) : next_(places) {
    std::uninitialized_value_construct_n(next_.data(), places);
  }

  /// Waits for cells 0 .. cell - 1 to have been at that place. They must have been begun before,
  /// as parallel_for does, or this waits forever.
  void wait(std::int64_t place, std::int64_t cell) const {
    const auto& next = next_[place];
    while (next.load(std::memory_order_acquire) != cell && !abandoned_.load()) {
      std::this_thread::yield();
    }
  }
  void pass(std::int64_t place, std::int64_t cell) {
    next_[place].store(cell + 1, std::memory_order_release);
  }
  /// A cell failed: nobody waits any longer.
  void abandon() { abandoned_.store(true); }

 private:
  Scratch<std::atomic<std::int64_t>> next_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace heed::kernels
