#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/attention/mask_case.h"

namespace heed::global_positions_test {
namespace {

using kernels::Cover;
using test::shape_of;

test::MaskCase case_of(const std::vector<std::int64_t>& globals, Corner corner,
                       std::int64_t shift) {
  return {global_positions(globals, corner), [=](auto, auto, auto i, auto j) {
            const auto listed = [&](std::int64_t p) {
              return std::find(globals.begin(), globals.end(), p) != globals.end();
            };
            return listed(i + shift) || listed(j);
          }};
}

TEST(GlobalPositions, AttendToAllAndAllAttendToThem) {
  for (const auto& [Tq, Tk] : {std::pair{20, 20}, {5, 30}, {30, 5}, {130, 130}}) {
    for (const std::vector<std::int64_t>& globals :
         {std::vector<std::int64_t>{}, {0}, {0, 1, 2}, {9, 3, 3, 17}, {1000}, {4, 5, 6, 7, 8}}) {
      test::check_mask(case_of(globals, Corner::top_left, 0), shape_of(Tq, Tk));
      test::check_mask(case_of(globals, Corner::bottom_right, Tk - Tq), shape_of(Tq, Tk));
      test::check_mask(
          case_of(globals, Corner::top_left, 0) |
              test::MaskCase{window(2, 1),
                             [](auto, auto, auto i, auto j) { return j >= i - 2 && j <= i + 1; }},
          shape_of(Tq, Tk));
    }
  }
}

TEST(GlobalPositions, BlocksWithoutOneAreSkipped) {
  const auto bound = global_positions({0, 700}).bind(shape_of(1000, 1000));
  EXPECT_EQ(bound->cover({0, 0, 96, 96, 8, 600}), Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 96, 96, 640, 64}), Cover::some);
  EXPECT_EQ(bound->cover({0, 0, 96, 96, 700, 1}), Cover::all);
  EXPECT_EQ(bound->cover({0, 0, 700, 1, 8, 600}), Cover::all);
}

}  // namespace
}  // namespace heed::global_positions_test
