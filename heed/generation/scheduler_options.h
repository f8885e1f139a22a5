// The options of a scheduler (scheduler.h).
#pragma once

#include <cstdint>
#include <optional>

#include "heed/io/fields.h"
#include "heed/tensor/padding.h"

namespace heed {

struct SchedulerOptions {
  /// Batches side by side, at most as many as threads; none: as many as there is work for.
  std::optional<std::int64_t> workers = {};
  /// Memory of keys and values of all requests in progress; none: half of what is available.
  std::optional<std::int64_t> cache_megabytes = {};
  std::int64_t batch_sentences = 64;         // requests of a batch
  std::int64_t batch_tokens = kBatchTokens;  // of sources that join at once, padding included
  std::int64_t queue = 1 << 20;              // requests that may wait

  /// The members that users of programs may choose: workers and cache_megabytes.
  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits, such as workers of 0 or 10,000.
  void validate() const;
};

}  // namespace heed
