#include "heed/attention/positions/alibi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TEST(AlibiSlopes, ThePapersSlopesForEightHeads) {
  const AlibiSlopes code({}, {.heads = 8});
  Tensor scores;
  AttentionSpec spec{.observers = {observe_scores(scores)}};
  code.modify(spec, Corner::offset(1));
  const Tensor q = zeros({1, 8, 3, 2}), k = zeros({1, 8, 5, 2});
  attention(q, k, k, spec);
  for (int h = 0; h < 8; ++h) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 5; ++j) {
        EXPECT_FLOAT_EQ(scores.data<float>()[(h * 3 + i) * 5 + j],
                        -static_cast<float>(std::abs(i + 1 - j)) * std::ldexp(1.0f, -(h + 1)));
      }
    }
  }
}

TEST(AlibiSlopes, HasNothingToLearn) { EXPECT_TRUE(AlibiSlopes({}, {}).parameters().empty()); }

}  // namespace
}  // namespace heed
