// Copies, conversions, in-place sums and the gradient of broadcasting.
#include "heed/tensor/copy.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

Tensor counted(const Shape& shape, DType dtype = DType::f32) {
  return view::reshape(arange(numel(shape), dtype), shape);
}

TEST(CopyData, ACloneIsContiguousAndItsOwn) {
  const Tensor x = view::transpose(counted({2, 3}), 0, 1);
  const Tensor y = clone_data(x);
  EXPECT_TRUE(y.contiguous());
  EXPECT_FALSE(y.storage() == x.storage());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(clone_data(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(clone_data(scalar(2.0)).item(), 2.0);
}

TEST(CopyData, ContiguousCopyCopiesOnlyIfItMust) {
  const Tensor x = counted({2, 3}, DType::i64);
  EXPECT_EQ(contiguous_copy(x).storage(), x.storage());
  const Tensor t = view::transpose(x, 0, 1);
  EXPECT_FALSE(contiguous_copy(t).storage() == x.storage());
  EXPECT_EQ(contiguous_copy(t).to_vector<std::int64_t>(), t.to_vector<std::int64_t>());
}

TEST(CopyData, CastsEveryTypeToEveryType) {
  constexpr DType kAll[] = {DType::f32, DType::f64, DType::bf16,   DType::i32,
                            DType::i64, DType::u8,  DType::boolean};
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      const Tensor x = full({3}, 3.0, from);
      const Tensor y = cast_data(x, to);
      EXPECT_EQ(y.dtype(), to);
      const double expected = from == DType::boolean || to == DType::boolean ? 1.0 : 3.0;
      EXPECT_EQ(view::select(y, 0, 2).item(), expected);
      EXPECT_EQ(y.storage() == x.storage(), from == to);
    }
  }
}

TEST(CopyInto, BroadcastsAndConverts) {
  Tensor to = zeros({2, 3});
  copy_into(to, from_values<std::int64_t>({1, 2, 3}, {3}));
  EXPECT_EQ(to.to_vector<float>(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  copy_into(to, from_values({7.0f, 8.0f}, {2, 1}));
  EXPECT_EQ(to.to_vector<float>(), (std::vector<float>{7, 7, 7, 8, 8, 8}));
  Tensor column = view::slice(to, 1, 1, 2);
  copy_into(column, scalar(0.0));
  EXPECT_EQ(to.to_vector<float>(), (std::vector<float>{7, 0, 7, 8, 0, 8}));
}

TEST(CopyInto, RefusesAReadOnlyTarget) {
  const auto owner = std::make_shared<float>(1.0f);
  Tensor x = borrow(reinterpret_cast<const std::byte*>(owner.get()), DType::f32, {1}, owner);
  EXPECT_THROW(copy_into(x, zeros({1})), Error);
  EXPECT_EQ(*owner, 1.0f);
}

TEST(AddData, EqualShapesInAnyLayout) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor a = view::transpose(counted({2, 3}, dtype), 0, 1);
    const Tensor b = counted({3, 2}, dtype);
    const Tensor y = cast_data(add_data(a, b), DType::f32);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 4, 3, 7, 6, 10}));
  }
}

TEST(AddInto, BroadcastsIntoAView) {
  Tensor x = zeros({2, 3});
  Tensor row = view::select(x, 0, 1);
  add_into(row, scalar(2.0));
  add_into(x, from_values({1.0f, 2.0f, 3.0f}, {3}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 3, 4, 5}));
  EXPECT_EQ(error_message([] {
              Tensor i = zeros({2}, DType::i64);
              add_into(i, i);
            }),
            "[add] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

TEST(ScaleInPlace, AViewOnly) {
  Tensor x = ones({2, 2});
  Tensor column = view::select(x, 1, 0);
  scale_in_place(column, 3.0);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{3, 1, 3, 1}));
}

// Sums by the definition: every element of x into the place it was stretched from.
Tensor sum_by_definition(const Tensor& x, const Shape& shape) {
  Tensor y = zeros(shape, DType::f64);
  const Tensor stretched = view::expand(y, x.shape());
  const auto nest = nest_of(x.shape(), x, stretched);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto at = nest.at(i);
    y.mutable_data<double>()[at[1]] += x.data<double>()[at[0]];
  }
  return y;
}

TEST(SumTo, EveryWayOfBroadcasting) {
  Generator generator(1);
  const std::pair<Shape, Shape> cases[] = {{{2, 3}, {2, 3}},
                                           {{2, 3}, {3}},
                                           {{2, 3}, {2, 1}},
                                           {{2, 3}, {}},
                                           {{2, 3}, {1, 1}},
                                           {{2, 3, 4}, {3, 1}},
                                           {{2, 3, 4, 5}, {1, 4, 1}},
                                           {{2, 3, 4}, {2, 1, 4}},
                                           {{5, 1, 3}, {1, 3}},
                                           {{0, 3}, {3}},
                                           {{0, 3}, {1, 3}},
                                           {{3, 0}, {3, 1}},
                                           {{2, 1, 2, 1, 2}, {1, 1, 2}},
                                           {{7, 65}, {65}},
                                           {{1, 1}, {}},
                                           {{300, 70}, {1, 70}},
                                           {{40, 3, 500}, {3, 1}}};
  for (const auto& [from, to] : cases) {
    const Tensor x = uniform(from, -1.0, 1.0, generator, DType::f64);
    const Tensor expected = sum_by_definition(x, to);
    const Tensor y = sum_to(x, to);
    EXPECT_EQ(y.shape(), to);
    EXPECT_LE(test::max_relative_error(y, expected), 1e-12) << to_string(from) << to_string(to);
    EXPECT_LE(test::max_relative_error(sum_to(cast_data(x, DType::f32), to), expected), 1e-5);
    if (from.rank() < 2) continue;
    const Tensor strided = view::transpose(clone_data(view::transpose(x, 0, 1)), 0, 1);
    EXPECT_LE(test::max_relative_error(sum_to(strided, to), expected), 1e-12);
  }
}

TEST(NestOf, SizeOneStretchesWhateverItsStride) {
  const Tensor x = view::slice(counted({4, 5}), 0, 1, 2);  // [1, 5], stride 5
  const auto nest = nest_of({3, 5}, x);
  EXPECT_EQ(nest.at(12)[0], 2);
}

TEST(VisitFloat, OnlyTheTypesThatCompute) {
  EXPECT_EQ(visit_float("op", DType::f32, [](auto zero) { return sizeof(zero); }), 4u);
  EXPECT_EQ(visit_float("op", DType::f64, [](auto zero) { return sizeof(zero); }), 8u);
  EXPECT_EQ(error_message([] { visit_float("op", DType::bf16, [](auto) {}); }),
            "[op] dtype bf16: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
