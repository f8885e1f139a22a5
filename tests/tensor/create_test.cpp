// Making tensors: filled, counted, copied in, borrowed, random.
#include "heed/tensor/create.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/threads.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f64, DType::bf16,   DType::i32,
                          DType::i64, DType::u8,  DType::boolean};

TEST(Create, FilledInEveryType) {
  for (const DType dtype : kAll) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 0}, Shape{2, 3, 5}}) {
      EXPECT_EQ(zeros(shape, dtype).shape(), shape);
      EXPECT_EQ(zeros(shape, dtype).dtype(), dtype);
      EXPECT_TRUE(zeros(shape, dtype).contiguous());
    }
    EXPECT_EQ(zeros({1}, dtype).item(), 0.0);
    EXPECT_EQ(ones({1}, dtype).item(), 1.0);
    EXPECT_EQ(full({1}, 3.0, dtype).item(), dtype == DType::boolean ? 1.0 : 3.0);
    EXPECT_EQ(scalar(0.0, dtype).rank(), 0);
  }
  EXPECT_EQ(full({2, 2}, -1.5).to_vector<float>(), std::vector<float>(4, -1.5f));
  EXPECT_EQ(full({100'000}, 2.0).to_vector<float>(), std::vector<float>(100'000, 2.0f));
  EXPECT_TRUE(std::isnan(full({1}, std::numeric_limits<double>::quiet_NaN()).item()));
}

TEST(Create, CountedInEveryType) {
  EXPECT_EQ(arange(3).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(arange(3, DType::f32).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(arange(2, DType::bf16).to_vector<BFloat16>()[1], BFloat16(1.0f));
  EXPECT_EQ(arange(3, DType::boolean).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(arange(0).shape(), (Shape{0}));
  EXPECT_EQ(error_message([] { arange(-1); }),
            "[arange] -1 elements: the count must not be negative");
}

TEST(Create, FromValues) {
  EXPECT_EQ(from_values({1.0f, 2.0f}, {2, 1}).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(from_values<bool>({true, false}, {2}).dtype(), DType::boolean);
  const std::vector<double> values = {1, 2, 3};
  EXPECT_EQ(from_values<double>(values, {3}).to_vector<double>(), values);
  EXPECT_EQ(from_values<double>({}, {0, 3}).numel(), 0);
  EXPECT_EQ(error_message([] {
              from_values({1.0f, 2.0f}, {3});
            }),
            "[from_values] 2 values do not fill shape [3], which holds 3");
}

TEST(Create, EmptyLikeIsContiguousWhateverItIsLike) {
  const Tensor x = zeros({2, 3}, DType::i32);
  EXPECT_EQ(empty_like(x).shape(), x.shape());
  EXPECT_EQ(empty_like(x).dtype(), DType::i32);
  EXPECT_FALSE(empty_like(x).storage() == x.storage());
}

TEST(Create, ImpossibleShapesAreRefused) {
  EXPECT_EQ(error_message([] { zeros({2, -1}); }), "[tensor] shape [2, -1] has a negative size");
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(error_message([=] {
              empty({big, big});
            }),
            "[tensor] shape [1099511627776, 1099511627776] holds more elements than memory can");
  EXPECT_THROW(empty({std::numeric_limits<std::int64_t>::max()}, DType::u8), Error);
  EXPECT_THROW(empty({big, 0, big}), Error);  // no element, but no strides either
  EXPECT_THROW(empty({std::int64_t{1} << 45}), Error);
}

TEST(Create, Borrowed) {
  const auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const auto* const data = reinterpret_cast<const std::byte*>(owner->data());
  {
    const Tensor x = borrow(data, DType::f32, {2, 2}, owner);
    EXPECT_EQ(x.data<float>(), owner->data());
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(error_message([&] { borrow(data + 1, DType::f32, {1}, owner); }),
            "[borrow] the data is not aligned to 4 bytes, as f32 needs: copy it first");
  EXPECT_NO_THROW(borrow(data + 1, DType::u8, {1}, owner));
  EXPECT_EQ(error_message([&] { borrow(data, DType::f32, {1}, nullptr); }),
            "[borrow] nothing keeps the data alive: pass a keeper");
  EXPECT_THROW(borrow(data, DType::f32, {-1}, owner), Error);
}

TEST(Random, UniformStaysInRangeAndFillsIt) {
  Generator generator(1);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = uniform({20'000}, -1.0, 3.0, generator, dtype);
    double low = 9.0, high = -9.0, sum = 0.0;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v =
          dtype == DType::f32 ? static_cast<double>(x.data<float>()[i]) : x.data<double>()[i];
      low = std::min(low, v), high = std::max(high, v), sum += v;
    }
    EXPECT_GE(low, -1.0);
    EXPECT_LE(high, 3.0);
    EXPECT_LT(low, -0.99);
    EXPECT_GT(high, 2.99);
    EXPECT_NEAR(sum / 20'000, 1.0, 0.05);
  }
}

TEST(Random, NormalHasItsMeanAndDeviation) {
  Generator generator(2);
  const std::vector<float> x = normal({100'000}, 2.0, 0.5, generator).to_vector<float>();
  double sum = 0.0, squares = 0.0;
  for (const double v : x) sum += v, squares += (v - 2.0) * (v - 2.0);
  EXPECT_NEAR(sum / 100'000, 2.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / 100'000), 0.5, 0.01);
}

TEST(Random, SameSeedSameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  const auto draw = [](int threads) {
    set_num_threads(threads);
    Generator generator(3);
    return normal({50'001}, 0.0, 1.0, generator);
  };
  const Tensor one = draw(1);
  EXPECT_TRUE(test::same_bits(draw(2), one));
  EXPECT_TRUE(test::same_bits(draw(3), one));
  set_num_threads(before);
}

TEST(Random, DrawsDifferFromEachOther) {
  Generator generator(4);
  const Tensor first = uniform({100}, 0.0, 1.0, generator);
  EXPECT_FALSE(test::same_bits(first, uniform({100}, 0.0, 1.0, generator)));
  EXPECT_FALSE(test::same_bits(randn({100}), randn({100})));
}

TEST(Random, OnlyFloats) {
  Generator generator(5);
  EXPECT_EQ(error_message([&] { uniform({2}, 0.0, 1.0, generator, DType::i64); }),
            "[random] dtype i64: random values are f32 or f64; use cast for others");
  EXPECT_THROW(normal({2}, 0.0, 1.0, generator, DType::bf16), Error);
}

}  // namespace
}  // namespace heed
