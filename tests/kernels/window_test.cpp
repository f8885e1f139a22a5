// The geometry of sliding windows, against the definition.
#include "heed/kernels/window.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace heed::kernels {
namespace {

TEST(SlidingAxis, TheOutputsThatSeeNoPadding) {
  for (std::int64_t size = 0; size <= 6; ++size) {
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t padding = 0; padding <= 5; ++padding) {
          for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
            const SlidingAxis axis{size, kernel, stride, padding, dilation};
            if (!axis.fits()) continue;
            for (std::int64_t k = 0; k < kernel; ++k) {
              const Range range = axis.inside(k);
              for (std::int64_t o = 0; o < axis.outputs(); ++o) {
                const std::int64_t input = axis.input(o, k);
                EXPECT_EQ(o >= range.begin && o < range.end, input >= 0 && input < size);
              }
              EXPECT_LE(range.begin, range.end);
              EXPECT_LE(range.end, std::max(range.begin, axis.outputs()));
            }
          }
        }
      }
    }
  }
}

TEST(SlidingAxis, CountsOutputs) {
  EXPECT_EQ((SlidingAxis{.size = 7, .kernel = 3}.outputs()), 5);
  EXPECT_EQ((SlidingAxis{.size = 7, .kernel = 3, .stride = 2, .padding = 1}.outputs()), 4);
  EXPECT_EQ((SlidingAxis{.size = 7, .kernel = 3, .dilation = 3}.outputs()), 1);
  EXPECT_FALSE((SlidingAxis{.size = 6, .kernel = 3, .dilation = 3}.fits()));
  EXPECT_TRUE((SlidingAxis{.size = 0, .kernel = 2, .padding = 1}.fits()));
}

// All (output, input) pairs of one tap within a range of outputs, by the definition.
std::map<std::int64_t, std::int64_t> pairs(const Window& w, std::int64_t tap, Range outputs) {
  std::map<std::int64_t, std::int64_t> found;
  for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
    const auto row = w.rows.input(o / w.columns.outputs(), tap / w.columns.kernel);
    const auto column = w.columns.input(o % w.columns.outputs(), tap % w.columns.kernel);
    if (row < 0 || row >= w.rows.size || column < 0 || column >= w.columns.size) continue;
    found[o] = row * w.columns.size + column;
  }
  return found;
}

TEST(Window, PiecesCoverEveryPairOnceInAnyRange) {
  const Window windows[] = {
      {{5, 3, 2, 1, 1}, {7, 2, 1, 1, 2}}, {{1, 1, 1, 0, 1}, {9, 3, 2, 4, 2}}, {{4, 1}, {3, 1}}};
  for (const Window& w : windows) {
    for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
      for (std::int64_t begin = 0; begin <= w.outputs(); ++begin) {
        for (std::int64_t end = begin; end <= w.outputs(); ++end) {
          std::map<std::int64_t, std::int64_t> found;
          for_each_piece(w, tap, {begin, end},
                         [&](std::int64_t out, std::int64_t in, std::int64_t n) {
                           for (std::int64_t i = 0; i < n; ++i) {
                             EXPECT_TRUE(found.emplace(out + i, in + i * w.columns.stride).second);
                           }
                         });
          EXPECT_EQ(found, pairs(w, tap, {begin, end}));
        }
      }
    }
  }
}

TEST(Window, PointwiseIsOneTapOnEveryInput) {
  EXPECT_TRUE((Window{{4, 1}, {3, 1}}.is_pointwise()));
  EXPECT_FALSE((Window{{4, 1}, {3, 2}}.is_pointwise()));
  EXPECT_FALSE((Window{{4, 1, 2}, {3, 1}}.is_pointwise()));
  EXPECT_FALSE((Window{{4, 1}, {3, 1, 1, 1}}.is_pointwise()));
}

}  // namespace
}  // namespace heed::kernels
