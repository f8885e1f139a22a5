// The stages of a call of attention.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/attention/normaliser.h"
#include "heed/attention/observer.h"
#include "heed/attention/score.h"
#include "heed/attention/stage.h"
#include "heed/attention/stages.h"

namespace heed {

/// The stages in the order in which they run; without any, scaled dot-product attention.
struct AttentionSpec {
  Score score = scaled_dot_score();
  std::vector<Modifier> modifiers = {};  ///< Change scores, in this order.
  Mask mask = {};                        ///< Hides keys, after all modifiers.
  Normaliser normaliser = softmax_weights();
  std::vector<Reweight> reweights = {};  ///< Change weights, in this order.
  std::vector<Observer> observers = {};  ///< Receive intermediate results; change nothing.
};

/// The rows at which packed sequences start, followed by the total: B + 1 numbers each.
struct PackedLengths {
  std::vector<std::int64_t> q_starts;
  std::vector<std::int64_t> k_starts;
};

}  // namespace heed
