// Batches that are computed side by side, each on one thread. For small models this uses the cores
// better than dividing each product among them: threads never wait for each other within a batch.
#pragma once

#include <cstdint>
#include <functional>

#include "heed/base/threads.h"

namespace heed {

/// Called before each step of a search; may end it by throwing.
using OnStep = std::function<void()>;

/// Calls run(i, on_step) for each i in [0, batches), on all threads if there are several batches,
/// else on this one, with all threads for the loops inside. If one throws, the others end at their
/// next call of on_step, and its exception is thrown.
void run_batches(std::int64_t batches, const OnStep& on_step,
                 FunctionRef<void(std::int64_t batch, const OnStep& on_step)> run);

}  // namespace heed
