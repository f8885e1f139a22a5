#include "heed/generation/scheduler_options.h"

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"

namespace heed {

void SchedulerOptions::fields(io::Fields& field) {
  field("workers", workers,
        "batches side by side, each on a share of the threads; none: as many as there is work for",
        {.min = 1, .max = kMaxThreads});
  field("cache_megabytes", cache_megabytes,
        "memory of the keys and values of all sentences in progress; none: half of what is "
        "available",
        {.min = 1, .max = 1 << 30});
}

void SchedulerOptions::validate() const {
  io::check_limits(*this, "scheduler");
  HEED_CHECK(!workers || *workers <= num_threads(),
             "[scheduler] {} workers and {} threads: give at most one worker for each thread",
             *workers, num_threads());
  HEED_CHECK(
      batch_sentences >= 1 && batch_tokens >= 1 && queue >= 1,
      "[scheduler] batches of {} sentences and {} tokens, {} requests that wait: all must be "
      "at least 1",
      batch_sentences, batch_tokens, queue);
}

}  // namespace heed
