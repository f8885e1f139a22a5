// What attention samples during a training pass: hard attention and the locations of glimpses for
// REINFORCE (attention/reinforce.h), Gumbel attention for reports. A training job records it:
//
//   std::vector<Sampled> samples;
//   {
//     const RecordSamples record(samples);
//     y = model.decode(target, memory);
//   }
#pragma once

#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// The samples of one call of a layer.
struct Sampled {
  Tensor log_prob;  ///< [B, Tq]: of the sampled position, differentiable; undefined if the sample
                    ///< has a gradient of its own (straight-through).
  Tensor entropy;   ///< [B, Tq]: of the probabilities, in nats.
  Tensor baseline = {};  ///< [B, Tq]: the reward that the model expects, differentiable; undefined
                         ///< if it learns none.
};

/// While it lives, layers that sample on this thread append to a list, call by call.
class RecordSamples {
 public:
  explicit RecordSamples(std::vector<Sampled>& to);
  ~RecordSamples();
  RecordSamples(const RecordSamples&) = delete;
  RecordSamples& operator=(const RecordSamples&) = delete;

 private:
  std::vector<Sampled>* before_;
};

/// The list that samples of this thread are appended to; null: none.
std::vector<Sampled>* recorded_samples();

}  // namespace heed
