#include "heed/training/gradient_source.h"

#include <limits>

#include "heed/base/interrupt.h"
#include "heed/base/random.h"
#include "heed/training/clip.h"

namespace heed {

void BatchSums::add(const BatchLoss& batch) {
  loss += batch.sum.item();
  negative_log_likelihood += batch.negative_log_likelihood;
  source_tokens += batch.source_tokens;
  target_tokens += batch.target_tokens;
  sampled.reward += batch.sampled.reward;
  sampled.entropy += batch.sampled.entropy;
  sampled.samples += batch.sampled.samples;
  counted += batch.counted;
}

std::optional<BatchSums> WholeBatches::compute(std::int64_t /*update*/, Attempt attempt) {
  const StreamPosition first = job_.position();
  const JobState before = job_.state();
  const Generator::State random = default_generator().state();
  buffers_.save();
  BatchSums sums;
  const bool is_complete = attempt([&] {
    for (std::int64_t i = 0; i < accumulate_; ++i) {
      check_interrupt();
      const BatchLoss batch = job_.next();
      sums.add(batch);
      batch.sum.backward();
    }
  });
  if (is_complete) return sums;
  optimizer_.zero_grad();
  buffers_.restore();
  job_.seek(first);
  job_.restore(before);
  default_generator().restore(random);
  return {};
}

double WholeBatches::norm() {
  return clip(optimizer_.parameters(), std::numeric_limits<double>::infinity()).norm;
}

}  // namespace heed
