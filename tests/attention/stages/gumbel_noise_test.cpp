#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/ops/order.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(GumbelNoise, TheBestKeyIsTheOneThatHardWeightsDraw) {
  Generator generator(3);
  const Tensor q = normal({2, 2, 9, 4}, 0.0, 1.0, generator);
  const Tensor k = normal({2, 2, 30, 4}, 0.0, 1.0, generator);
  const RandomStream random{8, 2};
  Tensor drawn, soft, quiet;
  attention(q, k, k, {.normaliser = hard_weights(random), .observers = {observe_weights(drawn)}});
  attention(q, k, k, {.modifiers = {gumbel_noise(random)}, .observers = {observe_weights(soft)}});
  attention(q, k, k, {.observers = {observe_weights(quiet)}});
  EXPECT_TRUE(test::same_bits(argmax(drawn), argmax(soft)));
  EXPECT_FALSE(test::same_bits(argmax(drawn), argmax(quiet)));
}

}  // namespace
}  // namespace heed
