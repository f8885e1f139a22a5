#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(SoftCap, NoScoreExceedsTheCap) {
  const Tensor q = full({1, 1, 1, 1}, 1000.0), k = from_values<float>({1, -1}, {1, 1, 2, 1});
  const Tensor v = from_values<float>({1, 0}, {1, 1, 2, 1});
  const Tensor y = attention(q, k, v, {.modifiers = {soft_cap(0.5)}});
  EXPECT_NEAR(y.item(), 1.0 / (1.0 + std::exp(-1.0)), 1e-6);
}

TEST(SoftCap, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { soft_cap(0.0); }),
            "[soft_cap] cap 0: it must be positive and finite");
  EXPECT_EQ(error_message([] { soft_cap(-3.0); }),
            "[soft_cap] cap -3: it must be positive and finite");
  EXPECT_EQ(error_message([] { soft_cap(std::numeric_limits<double>::infinity()); }),
            "[soft_cap] cap inf: it must be positive and finite");
}

}  // namespace
}  // namespace heed
