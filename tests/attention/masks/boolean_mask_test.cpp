#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::boolean_mask_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 2, .H = 3, .G = 1, .Tq = 13, .Tk = 21, .D = 1, .Dv = 1};

Tensor random_mask(const Shape& shape, std::uint64_t stream) {
  Tensor mask = empty(shape, DType::boolean);
  const RandomStream random{1, stream};
  for (std::int64_t n = 0; n < mask.numel(); ++n) {
    mask.mutable_data<bool>()[n] = random.uniform(static_cast<std::uint64_t>(n)) < 0.5f;
  }
  return mask;
}

TEST(BooleanMask, BroadcastsOverAnyAxes) {
  for (int axes = 0; axes < 16; ++axes) {
    Shape shape{2, 3, 13, 21};
    for (int i = 0; i < 4; ++i) {
      if ((axes >> i & 1) != 0) shape[i] = 1;
    }
    const Tensor mask = random_mask(shape, static_cast<std::uint64_t>(axes));
    const std::vector<bool> whole = view::expand(mask, {2, 3, 13, 21}).to_vector<bool>();
    test::check_mask({boolean_mask(mask),
                      [&](auto b, auto h, auto i, auto j) {
                        return whole[static_cast<std::size_t>(((b * 3 + h) * 13 + i) * 21 + j)];
                      }},
                     kShape);
  }
}

TEST(BooleanMask, LeadingAxesMayBeAbsentAndStridesAny) {
  const Tensor mask = random_mask({21, 13}, 40);
  const bool* const m = mask.data<bool>();
  test::check_mask({boolean_mask(view::transpose(mask, 0, 1)),
                    [&](auto, auto, auto i, auto j) { return m[j * 13 + i]; }},
                   kShape);
  const Tensor wide = random_mask({13, 64}, 41);
  const bool* const w = wide.data<bool>();
  test::check_mask({boolean_mask(view::slice(wide, 1, 5, 26)),
                    [&](auto, auto, auto i, auto j) { return w[i * 64 + 5 + j]; }},
                   kShape);
  const Tensor row = random_mask({21}, 42);
  const bool* const r = row.data<bool>();
  test::check_mask({boolean_mask(row), [&](auto, auto, auto, auto j) { return r[j]; }}, kShape);
  const Tensor one = random_mask({}, 43);
  test::check_mask({boolean_mask(one), [&](auto, auto, auto, auto) { return *one.data<bool>(); }},
                   kShape);
}

TEST(BooleanMask, IntervalsAreFound) {
  Tensor triangle = empty({13, 21}, DType::boolean);
  for (std::int64_t n = 0; n < 13 * 21; ++n) {
    triangle.mutable_data<bool>()[n] = n % 21 <= n / 21 && n % 21 >= n / 21 - 4;
  }
  EXPECT_TRUE(test::is_exact(boolean_mask(triangle), kShape));
  triangle.mutable_data<bool>()[20] = true;
  EXPECT_FALSE(test::is_exact(boolean_mask(triangle), kShape));
}

TEST(BooleanMask, CoverTellsWholeRegions) {
  Tensor mask = zeros({13, 21}, DType::boolean);
  for (std::int64_t n = 0; n < 13 * 21; ++n) mask.mutable_data<bool>()[n] = n % 21 >= 11;
  const auto bound = boolean_mask(mask).bind(kShape);
  EXPECT_EQ(bound->cover({0, 0, 2, 9, 0, 11}), kernels::Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 2, 9, 11, 10}), kernels::Cover::all);
  EXPECT_EQ(bound->cover({0, 0, 2, 9, 10, 3}), kernels::Cover::some);
}

TEST(BooleanMask, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(
      error_message([] {
        boolean_mask(zeros({13, 21}));
      }),
      "[boolean_mask] the mask is f32: it must be boolean, true where a query may attend to a key");
  EXPECT_EQ(error_message([] {
              boolean_mask(zeros({1, 1, 1, 13, 21}, DType::boolean));
            }),
            "[boolean_mask] the mask [1, 1, 1, 13, 21]: at most [B, H, Tq, Tk]");
  EXPECT_EQ(error_message([] {
              boolean_mask(zeros({2, 13, 21}, DType::boolean)).bind(kShape);
            }),
            "[attention] boolean_mask [2, 13, 21] does not broadcast to [B, H, Tq, Tk] = "
            "[2, 3, 13, 21]");
}

}  // namespace
}  // namespace heed::boolean_mask_test
