// Training for the proofs that mechanisms learn what they are for.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "heed/autograd/tape.h"
#include "heed/nn/module.h"
#include "heed/training/clip.h"
#include "heed/training/optimizer.h"

namespace heed::test {

struct Learning {
  int updates = 1000;
  double rate = 1e-3;
  double clip = 1.0;
  int warm_up = 50;  ///< Updates in which the rate rises to its value; then it falls linearly to 0.
};

/// Minimises loss(update) by Adam; says how it goes now and then.
template <typename Loss>
void learn(Module& model, const Learning& how, Loss&& loss) {
  Adam adam(model.named_parameters());
  double shown = 0.0;
  const int lines = 8;
  for (int update = 0; update < how.updates; ++update) {
    const Tensor value = loss(update);
    value.backward();
    const auto gradient = heed::clip(adam.parameters(), how.clip);
    const double up = std::min(1.0, (update + 1.0) / how.warm_up);
    const double down = 1.0 - static_cast<double>(update) / how.updates;
    adam.step({.rate = how.rate * std::min(up, down), .gradient_scale = gradient.scale});
    adam.zero_grad();
    shown += value.item();
    const int every = std::max(1, how.updates / lines);
    if ((update + 1) % every == 0) {
      fmt::print("  update {:>6}  loss {:.4f}\n", update + 1, shown / every);
      std::fflush(stdout);
      shown = 0.0;
    }
  }
}

}  // namespace heed::test
