// For layers that decode: after reorder, each sequence goes on as if it had always been the one it
// became.
#pragma once

#include <gtest/gtest.h>

#include "heed/attention/layer.h"
#include "heed/autograd/tape.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::test {

/// Decodes three random sequences of `embed` features, lets beams die and split after some steps,
/// and compares what follows with decoding the survivors from the start.
inline void check_beams(const AttentionLayer& layer, std::int64_t embed) {
  const NoGrad off;
  Generator generator(31);
  const std::int64_t T = 7, turn = 4;
  const Tensor x = normal({3, T, embed}, 0.0, 1.0, generator);  // [3, T, E]
  for (const std::vector<std::int64_t>& from :
       {std::vector<std::int64_t>{2, 0, 0}, std::vector<std::int64_t>{1}}) {
    const Tensor ids = from_values<std::int64_t>(from, {static_cast<std::int64_t>(from.size())});
    const Tensor survivors = index_select(x, 0, ids);
    const auto state = layer.start({.batch = 3});
    layer.step(slice(x, 1, 0, turn), *state);
    state->reorder(from);
    const auto always = layer.start({.batch = ids.size(0)});
    layer.step(slice(survivors, 1, 0, turn), *always);
    const Tensor rest = slice(survivors, 1, turn, T);
    EXPECT_LT(max_relative_error(layer.step(rest, *state), layer.step(rest, *always)), 1e-6);
  }
}

}  // namespace heed::test
