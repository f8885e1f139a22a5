// Training for the proofs that mechanisms learn what they are for, and counting what was learned.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "heed/autograd/tape.h"
#include "heed/nn/module.h"
#include "heed/ops/choose.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"
#include "heed/training/optimizer.h"

namespace heed::test {

struct Learning {
  int updates = 1000;
  double rate = 1e-3;
  double clip = 1.0;
  int warm_up = 50;  ///< Updates in which the rate rises to its value; then it falls linearly to 0.
};

/// Whole numbers of [low, high), all alike likely: i64.
inline Tensor random_ids(const Shape& shape, std::int64_t low, std::int64_t high,
                         Generator& generator) {
  Tensor ids = empty(shape, DType::i64);
  const RandomStream random = generator.next();
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    ids.mutable_data<std::int64_t>()[i] =
        low + random.below(static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(high - low));
  }
  return ids;
}

/// The share of elements that are what they should be.
inline double share_equal(const Tensor& found, const Tensor& truth) {
  const NoGrad off;
  return mean(cast(equal(found, truth), DType::f32)).item();
}

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
