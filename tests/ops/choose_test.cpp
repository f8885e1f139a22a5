// Comparisons and choices: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/choose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_golden;
using test::check_op;
using test::Golden;
using test::Named;
using Flags = std::vector<bool>;

// True at every third element or so.
Tensor mask(const Shape& shape) {
  Tensor m = empty(shape, DType::boolean);
  for (std::int64_t i = 0; i < m.numel(); ++i) m.mutable_data<bool>()[i] = i * 7 % 5 < 2;
  return m;
}

TEST(Comparisons, SixRelationsInEveryType) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8}) {
    const Tensor a = arange(3, dtype);
    const Tensor b = ones({3}, dtype);
    EXPECT_EQ(equal(a, b).to_vector<bool>(), (Flags{false, true, false}));
    EXPECT_EQ(not_equal(a, b).to_vector<bool>(), (Flags{true, false, true}));
    EXPECT_EQ(less(a, b).to_vector<bool>(), (Flags{true, false, false}));
    EXPECT_EQ(less_equal(a, b).to_vector<bool>(), (Flags{true, true, false}));
    EXPECT_EQ(greater(a, b).to_vector<bool>(), (Flags{false, false, true}));
    EXPECT_EQ(greater_equal(a, b).to_vector<bool>(), (Flags{false, true, true}));
  }
  EXPECT_EQ(equal(mask({3}), mask({3})).to_vector<bool>(), (Flags{true, true, true}));
}

TEST(Comparisons, BroadcastStridedAndEmpty) {
  const Tensor causal = less_equal(arange(3), view::unsqueeze(arange(3), 1));
  EXPECT_EQ(causal.shape(), (Shape{3, 3}));
  EXPECT_EQ(causal.to_vector<bool>(),
            (Flags{true, false, false, true, true, false, true, true, true}));
  EXPECT_EQ(less(view::transpose(causal, 0, 1), causal).to_vector<bool>(),
            (Flags{false, false, false, true, false, false, true, true, false}));
  EXPECT_EQ(equal(zeros({0, 3}), scalar(0.0)).shape(), (Shape{0, 3}));
}

TEST(Comparisons, RecordNothing) {
  Tensor x = ones({2}).requires_grad();
  EXPECT_FALSE(less(x, x).tracks_grad());
}

TEST(Where, EveryWayOfBroadcasting) {
  struct Case {
    Shape condition, a, b;
  };
  for (const Case& c :
       {Case{{}, {}, {}}, Case{{7}, {7}, {7}}, Case{{3, 1}, {17}, {}}, Case{{5}, {2, 1, 5}, {3, 1}},
        Case{{2, 63}, {1}, {2, 1}}, Case{{0, 3}, {3}, {1}}, Case{{65, 300}, {65, 300}, {300}}}) {
    const Tensor condition = mask(c.condition);
    check_op({.name = "where",
              .shapes = {c.a, c.b},
              .op = [=](auto in) { return where(condition, in[0], in[1]); },
              .gradient_tolerance = 1e-4});
  }
}

TEST(Where, ConstantsAndMaskedFill) {
  const Tensor condition = mask({3, 5});
  check_op({.name = "where constant b", .shapes = {{5}}, .op = [=](auto in) {
              return where(condition, in[0], 2.5);
            }});
  check_op({.name = "where constant a", .shapes = {{3, 5}}, .op = [=](auto in) {
              return where(view::transpose(mask({5, 3}), 0, 1), -1.0, in[0]);
            }});
  check_op({.name = "masked_fill", .shapes = {{2, 3, 5}}, .op = [=](auto in) {
              return masked_fill(in[0], condition, -7.0);
            }});
}

TEST(Where, WhatIsNotChosenCannotLeak) {
  Tensor x = from_values({std::numeric_limits<float>::quiet_NaN(), 2.0f}, {2}).requires_grad();
  const Tensor hidden = from_values<bool>({true, false}, {2});
  const Tensor y = sum(masked_fill(x, hidden, 0.0) * 3.0);
  y.backward();
  EXPECT_EQ(y.item(), 6.0);
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 3}));
}

TEST(Where, ChoosesAmongAnyType) {
  const Tensor condition = from_values<bool>({true, false}, {2});
  EXPECT_EQ(where(condition, arange(2), full({2}, 9, DType::i64)).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 9}));
  EXPECT_EQ(where(condition, condition, condition).dtype(), DType::boolean);
  EXPECT_EQ(masked_fill(arange(2), condition, -1).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-1, 1}));
}

TEST(Choose, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { less(ones({2}), ones({2}, DType::i64)); }),
            "[less] f32 and i64 do not compare: cast one of them");
  EXPECT_EQ(error_message([] { equal(ones({2}, DType::bf16), ones({2}, DType::bf16)); }),
            "[equal] bf16 is for storage: cast to f32 to compare");
  EXPECT_EQ(error_message([] { greater(ones({2}), ones({3})); }),
            "[greater] shapes [2] and [3] do not broadcast: sizes 2 and 3 differ and neither is 1");
  EXPECT_EQ(error_message([] { where(ones({2}), ones({2}), ones({2})); }),
            "[where] the condition is f32: it must be boolean, e.g. the result of less(x, y)");
  EXPECT_EQ(error_message([] { where(mask({2}), ones({2}), ones({2}, DType::f64)); }),
            "[where] f32 and f64 do not mix: cast one of them");
  EXPECT_THROW(where(mask({3}), ones({2}), ones({2})), Error);
}

TEST(Choose, AsInPyTorch) {
  for (const std::string name : {"where", "where_broadcast"}) {
    check_golden(name, [](const Golden& g) -> Named {
      return {{"y", where(g["condition"], g["a"], g["b"])}};
    });
  }
  for (const std::string name : {"masked_fill", "masked_fill_broadcast"}) {
    check_golden(name, [](const Golden& g) -> Named {
      return {{"y", masked_fill(g["x"], g["mask"], g.number("value"))}};
    });
  }
}

}  // namespace
}  // namespace heed
