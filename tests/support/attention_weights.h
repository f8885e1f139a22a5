// The attention weights of a layer's call, for tests that look at nothing else.
#pragma once

#include "heed/attention/layer.h"

namespace heed::test {

inline Tensor weights_of(const AttentionLayer& layer, AttentionInput in) {
  Tensor weights;
  in.weights = &weights;
  layer(in);
  return weights;
}

}  // namespace heed::test
