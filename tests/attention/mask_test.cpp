// Random compositions of masks against the composition of their predicates.
#include "heed/attention/mask.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"

namespace heed::mask_test {
namespace {

using kernels::AttentionShape;
using test::check_mask;
using test::is_exact;
using test::MaskCase;

constexpr AttentionShape kShape{.B = 2, .H = 2, .G = 1, .Tq = 117, .Tk = 61, .D = 4, .Dv = 4};

std::vector<MaskCase> members() {
  const RandomStream random{3, 0};
  Tensor elements = empty({2, 1, 117, 61}, DType::boolean);
  for (std::int64_t n = 0; n < elements.numel(); ++n) {
    elements.mutable_data<bool>()[n] = random.uniform(static_cast<std::uint64_t>(n)) < 0.6f;
  }
  const bool* const seen = elements.data<bool>();
  Tensor ids = empty({2, 61}, DType::i32);
  Tensor q_ids = empty({2, 117}, DType::i32);
  for (int n = 0; n < 2 * 61; ++n) ids.mutable_data<std::int32_t>()[n] = n % 61 / 13;
  for (int n = 0; n < 2 * 117; ++n) q_ids.mutable_data<std::int32_t>()[n] = n % 117 % 5;
  return {
      {key_lengths({17, 0}), [](auto b, auto, auto, auto j) { return j < (b == 0 ? 17 : 0); }},
      {causal(Corner::bottom_right), [](auto, auto, auto i, auto j) { return j <= i + 61 - 117; }},
      {window(5, 9), [](auto, auto, auto i, auto j) { return j >= i - 5 && j <= i + 9; }},
      {segments(q_ids, ids), [](auto, auto, auto i, auto j) { return i % 5 == j / 13; }},
      {boolean_mask(elements),
       [elements, seen](auto b, auto, auto i, auto j) { return seen[(b * 117 + i) * 61 + j]; }},
      {block_list(16, {{{0, 0}, {7, 3}}, {{1, 1}, {1, 3}, {2, 2}}}),
       [](auto, auto h, auto i, auto j) {
         const auto q = i / 16, k = j / 16;
         return h == 0 ? (q == 0 && k == 0) || (q == 7 && k == 3)
                       : (q == 1 && (k == 1 || k == 3)) || (q == 2 && k == 2);
       }},
      {mask_fn([](int b, int h, int i, int j) { return (b + 2 * h + 3 * i + j) % 7 != 0; }),
       [](auto b, auto h, auto i, auto j) { return (b + 2 * h + 3 * i + j) % 7 != 0; }},
  };
}

TEST(Mask, EveryMemberAloneAndInPairs) {
  const std::vector<MaskCase> all = members();
  for (const MaskCase& a : all) {
    check_mask(a, kShape);
    for (const MaskCase& b : all) {
      check_mask(a & b, kShape);
      check_mask(a | b, kShape);
    }
  }
}

TEST(Mask, RandomCompositions) {
  const std::vector<MaskCase> all = members();
  const RandomStream random{9, 9};
  for (std::uint64_t n = 0; n < 60; n += 6) {
    MaskCase mask = all[random.below(n, static_cast<std::uint32_t>(all.size()))];
    for (std::uint64_t k = 1; k < 4; ++k) {
      const MaskCase& next = all[random.below(n + k, static_cast<std::uint32_t>(all.size()))];
      mask = random.below(n + k + 2, 2) == 0 ? mask & next : next | mask;
    }
    check_mask(mask, kShape);
  }
}

TEST(Mask, CompositionsOfIntervalsStayExactWhereTheyCan) {
  EXPECT_TRUE(is_exact(causal() & key_lengths({17, 0}) & window(3, 3), kShape));
  EXPECT_TRUE(is_exact(window(5, 0) | window(0, 9), kShape)) << "they touch";
  EXPECT_TRUE(is_exact(window(5, 0) | key_lengths({0, 0}), kShape)) << "one sees nothing";
  EXPECT_FALSE(is_exact(window(2, 0) | key_lengths({4, 4}), kShape)) << "a gap between them";
}

TEST(Mask, EverythingIsTheNeutralElement) {
  EXPECT_TRUE(Mask().everything());
  EXPECT_EQ(Mask().bind(kShape), nullptr);
  EXPECT_EQ((Mask() & causal()).name(), "causal");
  EXPECT_EQ((causal() & Mask()).name(), "causal");
  EXPECT_TRUE((Mask() | causal()).everything());
  EXPECT_TRUE((causal() | Mask()).everything());
}

TEST(Mask, NamesShowTheComposition) {
  EXPECT_EQ(((causal() & key_lengths({1, 2})) | window(1, 1)).name(),
            "((causal & key_lengths) | window)");
}

}  // namespace
}  // namespace heed::mask_test
