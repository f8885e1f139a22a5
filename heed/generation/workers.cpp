#include "heed/generation/workers.h"

#include <atomic>
#include <exception>

#include "heed/base/interrupt.h"

namespace heed {
namespace {

// A whole batch is worth waking a thread for.
constexpr std::int64_t kCost = std::int64_t{1} << 40;

}  // namespace

void run_batches(std::int64_t batches, const OnStep& on_step,
                 FunctionRef<void(std::int64_t batch, const OnStep& on_step)> run) {
  if (batches == 1) return run(0, on_step);
  std::atomic<bool> failed = false;
  const OnStep checked = [&] {
    if (failed.load(std::memory_order_relaxed)) throw Interrupted();
    if (on_step) on_step();
  };
  // The first exception is the reason; later ones may come from batches that were told to stop.
  std::exception_ptr error;
  parallel_for(batches, kCost, [&](std::int64_t batch) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      const InterruptScope scope(checked);  // loops inside a batch ask it too
      run(batch, checked);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace heed
