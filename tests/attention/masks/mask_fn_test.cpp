#include "heed/attention/masks/mask_fn.h"

#include <gtest/gtest.h>

#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"
#include "tests/support/isa_guard.h"

namespace heed {
namespace {

using kernels::AttentionShape;

TEST(MaskFn, IsWhatTheFunctionSays) {
  const AttentionShape shape{.B = 2, .H = 2, .G = 1, .Tq = 33, .Tk = 19, .D = 1, .Dv = 1};
  const int step = 3;  // its captures must be copied
  test::for_each_isa([&](Isa) {
    test::check_mask(
        {mask_fn([step](int b, int h, int i, int j) { return (i + b * h - j) % step == 0; }),
         [step](auto b, auto h, auto i, auto j) { return (i + b * h - j) % step == 0; }},
        shape);
  });
}

TEST(MaskFn, PositionsFitInt) {
  AttentionShape shape{.B = 1, .H = 1, .G = 1, .Tq = 3, .Tk = 1LL << 31, .D = 1, .Dv = 1};
  EXPECT_EQ(error_message([&] { mask_fn([](int, int, int, int) { return true; }).bind(shape); }),
            "[attention] mask_fn counts positions in int: Tq = 3 and Tk = 2147483648 must be at "
            "most 2147483647");
}

}  // namespace
}  // namespace heed
