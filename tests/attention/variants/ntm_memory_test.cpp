// Addressing, reading and writing of an NTM's memory, by hand.
#include "heed/attention/variants/ntm_memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::ntm {
namespace {

using test::max_relative_error;

Tensor random(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, dtype);
}

Tensor random_weights(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  return softmax(random(shape, seed, dtype));
}

// All weight on slot i of n: [1, 1, n].
Tensor one_hot(std::int64_t i, std::int64_t n) {
  Tensor w = zeros({1, 1, n});
  w.mutable_data<float>()[i] = 1.0f;
  return w;
}

TEST(NtmContent, IsTheSoftmaxOfCosines) {
  const Tensor memory = from_values({3.0f, 0.0f, 0.0f, 0.5f, -2.0f, 0.0f}, {1, 3, 2});
  const Tensor key = from_values({10.0f, 0.0f}, {1, 1, 2});
  const Tensor w = content_weights(memory, key, full({1, 1, 1}, 2.0));
  const double total = std::exp(2.0) + 1.0 + std::exp(-2.0);  // cosines 1, 0 and -1
  const Tensor expected =
      from_values({static_cast<float>(std::exp(2.0) / total), static_cast<float>(1.0 / total),
                   static_cast<float>(std::exp(-2.0) / total)},
                  {1, 1, 3});
  EXPECT_LT(max_relative_error(w, expected), 1e-6);
}

TEST(NtmContent, ALargeBetaPicksTheNearest) {
  const Tensor memory = random({1, 9, 4}, 1);
  const Tensor key = 0.01 * slice(memory, 1, 6, 7);  // the direction of slot 6
  const Tensor w = content_weights(memory, key, full({1, 1, 1}, 1e4));
  EXPECT_LT(max_relative_error(w, one_hot(6, 9)), 1e-6);
}

TEST(NtmContent, ZeroVectorsAreLikeNone) {
  const Tensor key = random({1, 1, 4}, 2);
  const Tensor even = full({1, 1, 5}, 0.2);
  EXPECT_LT(max_relative_error(content_weights(zeros({1, 5, 4}), key, ones({1, 1, 1})), even),
            1e-6);
  const Tensor memory = random({1, 5, 4}, 3);
  EXPECT_LT(max_relative_error(content_weights(memory, zeros({1, 1, 4}), ones({1, 1, 1})), even),
            1e-6);
  Tensor slots = zeros({1, 5, 4}).requires_grad();
  sum(square(content_weights(slots, key, ones({1, 1, 1})))).backward();
  for (const float d : slots.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(d));
}

TEST(NtmInterpolate, GoesFromThePlaceBeforeToContent) {
  const Tensor content = random_weights({2, 3, 5}, 4), before = random_weights({2, 3, 5}, 5);
  EXPECT_TRUE(test::same_bits(interpolate(content, before, ones({2, 3, 1})), content));
  EXPECT_TRUE(test::same_bits(interpolate(content, before, zeros({2, 3, 1})), before));
  EXPECT_LT(max_relative_error(interpolate(content, before, full({2, 3, 1}, 0.25)),
                               0.25 * content + 0.75 * before),
            1e-6);
}

TEST(NtmShift, OneShareIsAnExactRotation) {
  const std::int64_t n = 7;
  const Tensor w = random_weights({2, 3, n}, 6);
  for (std::int64_t d = -2; d <= 2; ++d) {
    Tensor shares = zeros({2, 3, 5});
    for (std::int64_t row = 0; row < 6; ++row) shares.mutable_data<float>()[row * 5 + d + 2] = 1.0f;
    const std::vector<float> from = w.to_vector<float>();
    const std::vector<float> moved = shift(w, shares).to_vector<float>();
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_EQ(moved[static_cast<std::size_t>(row * n + (i + d + n) % n)],
                  from[static_cast<std::size_t>(row * n + i)])
            << "by " << d << ", slot " << i;
      }
    }
  }
}

TEST(NtmShift, SharesSpreadAroundTheCircle) {
  const Tensor w = shift(one_hot(0, 4), from_values({0.2f, 0.5f, 0.3f}, {1, 1, 3}));
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0.5f, 0.3f, 0.0f, 0.2f}));
}

TEST(NtmSharpen, KeepsTheSumAndTendsToOneSlot) {
  const Tensor w = random_weights({2, 3, 9}, 7);
  EXPECT_LT(max_relative_error(sharpen(w, ones({2, 3, 1})), w), 1e-6);
  double before = 0.0;
  for (const double gamma : {1.0, 2.0, 8.0, 64.0}) {
    const Tensor y = sharpen(w, full({2, 3, 1}, gamma));
    EXPECT_LT(max_relative_error(sum(y, {2}), ones({2, 3})), 1e-6);
    const double least_peak = min(max(y, {2})).item();
    EXPECT_GT(least_peak, before);
    before = least_peak;
  }
  EXPECT_GT(before, 0.95);
  EXPECT_LT(
      max_relative_error(sharpen(from_values({0.2f, 0.3f, 0.5f}, {1, 1, 3}), full({1, 1, 1}, 2.0)),
                         from_values({0.04f / 0.38f, 0.09f / 0.38f, 0.25f / 0.38f}, {1, 1, 3})),
      1e-6);
}

// Powers of small weights underflow in f32: taken plainly, 0 would be divided by 0.
TEST(NtmSharpen, SmallWeightsNeitherVanishNorExplode) {
  Tensor w = full({1, 1, 1000}, 1e-3).requires_grad();
  const Tensor y = sharpen(w, full({1, 1, 1}, 50.0));  // 1e-3^50 is 0 in f32
  EXPECT_LT(max_relative_error(y, full({1, 1, 1000}, 1e-3)), 1e-6);
  sum(square(y)).backward();
  for (const float d : w.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(d));
  Tensor hot = one_hot(2, 5).requires_grad();
  const Tensor same = sharpen(hot, full({1, 1, 1}, 3.0));
  EXPECT_LT(max_relative_error(same, one_hot(2, 5)), 1e-6);
  sum(square(same)).backward();
  for (const float d : hot.grad().to_vector<float>()) EXPECT_LT(std::abs(d), 10.0f);
}

TEST(NtmAddress, AnyNumbersMakeAnAddress) {
  const Tensor raw = 5.0 * random({2, 3, address_size(4, 2)}, 8);
  const Address to = make_address(raw, 4);
  EXPECT_TRUE(test::same_bits(contiguous(to.key), contiguous(slice(raw, 2, 0, 4))));
  EXPECT_GT(min(to.beta).item(), 0.0);
  EXPECT_GT(min(to.gate).item(), 0.0);
  EXPECT_LT(max(to.gate).item(), 1.0);
  EXPECT_GE(min(to.gamma).item(), 1.0);
  EXPECT_EQ(to.shift.shape(), (Shape{2, 3, 5}));
  EXPECT_LT(max_relative_error(sum(to.shift, {2}), ones({2, 3})), 1e-6);
}

TEST(NtmMemory, WritingErasesThenAdds) {
  const Tensor memory = from_values({1.0f, 2.0f, 3.0f, 4.0f}, {1, 2, 2});
  const Tensor w = from_values({1.0f, 0.0f, 0.5f, 0.5f}, {1, 2, 2});      // two heads, two slots
  const Tensor erase = from_values({1.0f, 0.5f, 0.0f, 1.0f}, {1, 2, 2});  // two heads, two numbers
  const Tensor add = from_values({10.0f, 20.0f, 2.0f, 4.0f}, {1, 2, 2});
  // slot 0: 1 (1 - 1)(1 - 0) + 10 + 1,  2 (1 - 0.5)(1 - 0.5) + 20 + 2
  // slot 1: 3 (1 - 0)(1 - 0) + 0 + 1,   4 (1 - 0)(1 - 0.5) + 0 + 2
  EXPECT_EQ(write(memory, {w, erase, add}).to_vector<float>(),
            (std::vector<float>{11.0f, 22.5f, 4.0f, 4.0f}));
}

TEST(NtmMemory, WhatIsWrittenIsRead) {
  const Tensor word = random({1, 1, 4}, 9);
  const Tensor memory =
      write(random({1, 6, 4}, 10), {one_hot(3, 6), ones({1, 1, 4}), word});  // [1, 6, 4]
  EXPECT_TRUE(test::same_bits(read(memory, one_hot(3, 6)), word));
  EXPECT_LT(max_relative_error(read(memory, full({1, 1, 6}, 1 / 6.0)),
                               mean(memory, {1}, {.keep_axes = true})),
            1e-6);
}

TEST(NtmMemory, GradientOfAWholeStep) {
  std::vector<Tensor> leaves;
  leaves.push_back(random({2, 5, 3}, 11, DType::f64).requires_grad());                   // memory
  leaves.push_back(random_weights({2, 2, 5}, 12, DType::f64).requires_grad());           // before
  leaves.push_back(random({2, 2, address_size(3, 1)}, 13, DType::f64).requires_grad());  // where
  leaves.push_back(random({2, 1, 3}, 14, DType::f64).requires_grad());                   // erase
  leaves.push_back(random({2, 1, 3}, 15, DType::f64).requires_grad());                   // add
  const auto f = [](std::span<const Tensor> in) {
    const Tensor w = address(in[0], in[1], make_address(in[2], 3));  // [2, 2, 5]
    const Tensor after = write(in[0], {slice(w, 1, 0, 1), sigmoid(in[3]), in[4]});
    return read(after, slice(w, 1, 1, 2));
  };
  const GradCheckResult result = gradcheck(f, leaves);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(NtmShift, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              shift(ones({1, 1, 4}), ones({1, 1, 2}));
            }),
            "[ntm] 2 shares of shifts: there must be an odd number, one for each of -S to S");
}

}  // namespace
}  // namespace heed::ntm
