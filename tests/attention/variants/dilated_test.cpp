#include "heed/attention/variants/dilated.h"

#include <gtest/gtest.h>

#include "heed/attention/variants/restricted.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

constexpr std::int64_t kStep = 3;

template <typename Layer>
Layer make(std::int64_t left, std::int64_t right) {
  Generator generator(7);
  typename Layer::Config config;
  config.multi_head.embed = 12;
  config.multi_head.heads = 3;
  config.left = left;
  config.right = right;
  if constexpr (requires { config.step; }) config.step = kStep;
  return Layer(config, generator);
}

// Positions at the same place of every three are a sequence of their own, with a plain window.
TEST(Dilated, IsAWindowOnEverySoManyPositions) {
  const auto dilated = make<DilatedAttention>(2, 1);
  const auto window = make<RestrictedAttention>(2, 1);
  const std::int64_t B = 2, T = 20 * kStep, E = 12;
  const Tensor x = randn({B, T, E});
  const Tensor apart = reshape(transpose(reshape(x, {B, T / kStep, kStep, E}), 1, 2),
                               {B * kStep, T / kStep, E});  // [B step, T / step, E]
  const Tensor y =
      reshape(transpose(reshape(window({.x = apart}), {B, kStep, T / kStep, E}), 1, 2), {B, T, E});
  EXPECT_LE(test::max_relative_error(dilated({.x = x}), y), 2e-6);
}

TEST(Dilated, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { make<DilatedAttention>(-1, 1); }),
            "[dilated] left -1, right 1: a window has 0 to 1073741824 keys on each side");
  EXPECT_EQ(error_message([] { DilatedAttention layer({.step = 0}); }),
            "[dilated] step 0: it must be from 1 to 1073741824");
}

}  // namespace
}  // namespace heed
