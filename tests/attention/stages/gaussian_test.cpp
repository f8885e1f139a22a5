#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

// The weights are 1/2 each before; the query's centre is 0.5 in the first head and 1 in the second.
TEST(Gaussian, ComesAfterTheSoftmax) {
  const Tensor q = zeros({1, 2, 1, 1}), k = zeros({1, 2, 2, 1});
  const Tensor v = from_values<float>({1, 0, 1, 0}, {1, 2, 2, 1});
  const Tensor centres = from_values<float>({0.5f, 1.0f}, {1, 2, 1});
  const Tensor y = attention(q, k, v, {.reweights = {gaussian(centres, 2.0)}});
  EXPECT_NEAR(y.to_vector<float>()[0], 0.5 * std::exp(-0.25 / 8.0), 1e-6);
  EXPECT_NEAR(y.to_vector<float>()[1], 0.5 * std::exp(-1.0 / 8.0), 1e-6);
}

TEST(Gaussian, PullsItsCentreToWhatIsWorthMore) {
  const Tensor q = zeros({1, 1, 1, 1}), k = zeros({1, 1, 9, 1});
  Tensor v = zeros({1, 1, 9, 1});
  v.mutable_data<float>()[8] = 1.0f;
  Tensor centre = full({1, 1, 1}, 4.0).requires_grad();
  sum(attention(q, k, v, {.reweights = {gaussian(centre, 3.0)}})).backward();
  EXPECT_NEAR(centre.grad().item(), std::exp(-16.0 / 18.0) / 9.0 * 4.0 / 9.0, 1e-7);
}

TEST(Gaussian, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({2, 4, 3, 5});
  EXPECT_EQ(error_message([] { gaussian(ones({3}), 1.0); }),
            "[gaussian] centres [3]: they must be [B, H, Tq], one for each query");
  EXPECT_EQ(error_message([] { gaussian(Tensor(), 1.0); }),
            "[gaussian] centres undefined: they must be [B, H, Tq], one for each query");
  EXPECT_EQ(error_message([] {
              gaussian(ones({1, 1, 3}), 0.0);
            }),
            "[gaussian] deviation 0: it must be positive and finite");
  EXPECT_EQ(error_message([] {
              gaussian(ones({1, 1, 3}), std::numeric_limits<double>::infinity());
            }),
            "[gaussian] deviation inf: it must be positive and finite");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.reweights = {gaussian(ones({2, 3, 3}), 1.0)}});
            }),
            "[attention] centres of gaussian [2, 3, 3] do not broadcast to [B, H, Tq] = [2, 4, 3]");
}

}  // namespace
}  // namespace heed
