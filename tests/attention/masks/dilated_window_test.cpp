#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::dilated_window_test {
namespace {

using kernels::Cover;
using test::shape_of;

test::MaskCase case_of(const DilatedWindow& w, Corner corner, std::int64_t shift) {
  return {dilated_window(w, corner), [=](auto, auto, auto i, auto j) {
            const std::int64_t distance = j - (i + shift);
            return distance % w.step == 0 && distance / w.step >= -w.left &&
                   distance / w.step <= w.right;
          }};
}

TEST(DilatedWindow, ShowsEveryStepthNeighbour) {
  for (const auto& [Tq, Tk] : {std::pair{30, 30}, {7, 40}, {40, 7}, {130, 130}}) {
    for (const DilatedWindow& w :
         {DilatedWindow{2, 3, 4}, {0, 5, 3}, {6, 0, 2}, {0, 0, 5}, {2, 2, 1}, {100, 100, 7}}) {
      test::check_mask(case_of(w, Corner::top_left, 0), shape_of(Tq, Tk));
      test::check_mask(case_of(w, Corner::bottom_right, Tk - Tq), shape_of(Tq, Tk));
      test::check_mask(case_of(w, Corner::offset(-5), -5), shape_of(Tq, Tk));
    }
  }
}

TEST(DilatedWindow, WithoutGapsItIsAWindow) {
  EXPECT_TRUE(test::is_exact(dilated_window({2, 1, 1}), shape_of(9, 9)));
  EXPECT_FALSE(test::is_exact(dilated_window({2, 1, 2}), shape_of(9, 9)));
}

TEST(DilatedWindow, DistantKeysAreSkipped) {
  const auto bound = dilated_window({4, 4, 8}).bind(shape_of(1000, 1000));
  EXPECT_EQ(bound->cover({0, 0, 500, 96, 0, 468}), Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 500, 96, 628, 372}), Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 500, 96, 460, 9}), Cover::some);
  EXPECT_EQ(bound->cover({0, 0, 500, 2, 494, 4}), Cover::none) << "a gap";
  std::int64_t first = 0, last = 0;
  bound->intervals({0, 0, 500, 1, 0, 1000}, &first, &last);
  EXPECT_EQ(first, 468);
  EXPECT_EQ(last, 533);
}

TEST(DilatedWindow, HugeSizesDoNotOverflow) {
  test::check_mask({dilated_window({kUnlimited, kUnlimited, 3}),
                    [](auto, auto, auto i, auto j) { return (i - j) % 3 == 0; }},
                   shape_of(20, 20));
  test::check_mask({dilated_window({kUnlimited, kUnlimited, kUnlimited}),
                    [](auto, auto, auto i, auto j) { return i == j; }},
                   shape_of(20, 20));
}

TEST(DilatedWindow, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              dilated_window({-1, 2, 1});
            }),
            "[dilated_window] left -1, right 2: neither may be negative");
  EXPECT_EQ(error_message([] {
              dilated_window({1, 2, 0});
            }),
            "[dilated_window] step 0: it must be at least 1");
}

}  // namespace
}  // namespace heed::dilated_window_test
