// Gather, scatter-add and index-select: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/index.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
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

// Pseudo-random indices below size.
Tensor indices(const Shape& shape, std::int64_t size, DType dtype = DType::i64) {
  Tensor index = empty(shape, dtype);
  const std::int64_t n = index.numel();
  const RandomStream stream = Generator(5).next();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto u = static_cast<double>(stream.uniform(static_cast<std::uint64_t>(i)));
    const auto value = static_cast<std::int64_t>(u * static_cast<double>(size));
    if (dtype == DType::i32) {
      index.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    } else {
      index.mutable_data<std::int64_t>()[i] = value;
    }
  }
  return index;
}

TEST(Gather, EveryAxisAndOddSizes) {
  for (const int axis : {0, 1, 2, -1}) {
    for (const std::int64_t n : {0, 1, 7, 17}) {
      Shape shape{5, 7, 9};
      shape[axis < 0 ? 2 : axis] = n;
      for (const DType dtype : {DType::i32, DType::i64}) {
        const Tensor index = indices(shape, Shape{5, 7, 9}[axis < 0 ? 2 : axis], dtype);
        check_op({.name = "gather", .shapes = {{5, 7, 9}}, .op = [=](auto in) {
                    return gather(in[0], axis, index);
                  }});
      }
    }
  }
}

TEST(Gather, ReadsACornerWhenTheIndexIsSmaller) {
  const Tensor x = from_values({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  const Tensor index = from_values<std::int64_t>({2, 0}, {1, 2});
  EXPECT_EQ(gather(x, 1, index).to_vector<float>(), (std::vector<float>{3, 1}));
  EXPECT_EQ(gather(x, 0, from_values<std::int64_t>({1, 0, 1, 1}, {4, 1})).to_vector<float>(),
            (std::vector<float>{4, 1, 4, 4}));
  check_op({.name = "corner", .shapes = {{3, 4}}, .op = [index](auto in) {
              return gather(in[0], 1, index);
            }});
}

TEST(Gather, TakesAnyElementTypeAndStridedIndices) {
  const Tensor ids = from_values<std::int64_t>({10, 11, 12, 13, 14, 15}, {2, 3});
  const Tensor index = view::transpose(from_values<std::int32_t>({2, 0, 1, 1}, {2, 2}), 0, 1);
  EXPECT_EQ(gather(ids, 1, index).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{12, 11, 13, 14}));
  const Tensor flags = from_values<bool>({true, false, true}, {3});
  EXPECT_EQ(gather(flags, 0, from_values<std::int64_t>({1, 2}, {2})).to_vector<bool>(),
            (std::vector<bool>{false, true}));
}

TEST(Gather, LargeAndParallel) {
  for (const int axis : {0, 1}) {
    const Tensor index = indices(axis == 0 ? Shape{700, 301} : Shape{299, 650}, 299);
    check_op({.name = "gather",
              .shapes = {{299, 301}},
              .op = [=](auto in) { return gather(in[0], axis, index); },
              .gradient_tolerance = 1e-5});
  }
}

TEST(ScatterAdd, EveryAxisAndOddSizes) {
  for (const int axis : {0, 1, 2, -1}) {
    for (const std::int64_t n : {0, 1, 5, 9}) {
      Shape shape{3, 4, 5};
      shape[axis < 0 ? 2 : axis] = n;
      const Tensor index = indices(shape, Shape{3, 4, 5}[axis < 0 ? 2 : axis]);
      check_op({.name = "scatter_add", .shapes = {{3, 4, 5}, shape}, .op = [=](auto in) {
                  return scatter_add(in[0], axis, index, in[1]);
                }});
    }
  }
}

TEST(ScatterAdd, SourceMayBeLargerThanTheIndex) {
  const Tensor index = indices({2, 3}, 5);
  check_op({.name = "corner", .shapes = {{5, 4}, {3, 6}}, .op = [index](auto in) {
              return scatter_add(in[0], 0, index, in[1]);
            }});
}

TEST(ScatterAdd, ManyMeetInOnePlaceWithTheSameBits) {
  for (const int axis : {0, 1}) {
    const Shape many = axis == 0 ? Shape{3000, 65} : Shape{65, 3000};
    const Tensor index = indices(many, 7);
    check_op({.name = "scatter_add",
              .shapes = {axis == 0 ? Shape{7, 65} : Shape{65, 7}, many},
              .op = [=](auto in) { return scatter_add(in[0], axis, index, in[1]); },
              .tolerance = 2e-5});
  }
}

TEST(IndexSelect, EveryAxisAndOddSizes) {
  for (const int axis : {0, 1, 2, -2}) {
    for (const std::int64_t n : {0, 1, 17}) {
      for (const DType dtype : {DType::i32, DType::i64}) {
        const Tensor ids = indices({n}, 4, dtype);
        check_op({.name = "index_select", .shapes = {{4, 5, 7}}, .op = [=](auto in) {
                    return index_select(in[0], axis, ids);
                  }});
      }
    }
  }
}

TEST(IndexSelect, EmptyAndLarge) {
  check_op({.name = "no columns", .shapes = {{3, 0}}, .op = [](auto in) {
              return index_select(in[0], 0, from_values<std::int64_t>({2, 2}, {2}));
            }});
  for (const int axis : {0, 1}) {
    const Tensor ids = indices({900}, 201);
    check_op({.name = "index_select",
              .shapes = {{201, 203}},
              .op = [=](auto in) { return index_select(in[0], axis, ids); },
              .gradient_tolerance = 1e-5});
  }
}

TEST(Index, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({2, 3});
  const auto i64 = [](std::initializer_list<std::int64_t> values, const Shape& shape) {
    return from_values<std::int64_t>(values, shape);
  };
  EXPECT_EQ(error_message([&] {
              gather(x, 1, i64({0, 1, 3, 2}, {2, 2}));
            }),
            "[gather] index 3 at position [1, 0] is outside the axis of size 3: indices run from 0 "
            "to 2");
  EXPECT_EQ(error_message([&] {
              gather(x, 1, i64({0, -1}, {1, 2}));
            }),
            "[gather] index -1 at position [0, 1] is outside the axis of size 3: indices run from "
            "0 to 2");
  EXPECT_EQ(error_message([&] { gather(x, 0, i64({0}, {1})); }),
            "[gather] index [1] for x [2, 3]: the ranks must agree and no size but that along the "
            "axis may be larger");
  EXPECT_EQ(error_message([&] {
              gather(x, 0, ones({1, 1}));
            }),
            "[gather] indices are f32: they must be i32 or i64; use cast(x, DType::i64)");
  EXPECT_THROW(gather(x, 0, i64({0, 0, 0, 0}, {1, 4})), Error);
  EXPECT_THROW(gather(x, 2, i64({0}, {1, 1})), Error);
  EXPECT_THROW(scatter_add(x, 1, i64({0, 1}, {1, 2}), ones({1, 1})), Error);
  EXPECT_THROW(scatter_add(x, 1, i64({3}, {1, 1}), ones({1, 1})), Error);
  EXPECT_THROW(scatter_add(x, 1, i64({0}, {1, 1}), ones({1, 1}, DType::f64)), Error);
  EXPECT_THROW(index_select(x, 0, i64({0}, {1, 1})), Error);
  EXPECT_EQ(error_message([&] {
              index_select(x, 0, i64({0, 1, 2}, {3}));
            }),
            "[index_select] index 2 at position [2] is outside the axis of size 2: indices run "
            "from 0 to 1");
  EXPECT_THROW(index_select(zeros({0, 2}), 0, i64({0}, {1})), Error);
}

TEST(Index, AsInPyTorch) {
  const auto axis = [](const Golden& g) { return static_cast<int>(g.number("dim")); };
  for (const std::string name : {"gather", "gather_dim1"}) {
    check_golden(name, [&](const Golden& g) -> Named {
      return {{"y", gather(g["x"], axis(g), g["index"])}};
    });
  }
  for (const std::string name : {"scatter_add", "scatter_add_dim1"}) {
    check_golden(name, [&](const Golden& g) -> Named {
      return {{"y", scatter_add(g["x"], axis(g), g["index"], g["source"])}};
    });
  }
}

}  // namespace
}  // namespace heed
