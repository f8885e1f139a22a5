// Sorting, top-k and argmax against the definition.
#include "heed/ops/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/threads.h"
#include "heed/ops/index.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::same_bits;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
using Indices = std::vector<std::int64_t>;

// Values of which many are equal, so that ties are common.
Tensor ties(const Shape& shape) {
  Generator generator(3);
  Tensor x = uniform(shape, -4.0, 4.0, generator);
  for (float& value : x.mutable_values<float>()) value = std::round(value);
  return x;
}

// The indices that order a line, by the definition: the lowest index first among equals.
Indices order_of(const std::vector<float>& line, bool descending) {
  Indices order(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const float x = line[static_cast<std::size_t>(a)];
    const float y = line[static_cast<std::size_t>(b)];
    const auto above = [](float u, float v) { return u > v || (std::isnan(u) && !std::isnan(v)); };
    return descending ? above(x, y) : above(y, x);
  });
  return order;
}

// Calls f(line, lines of the outputs…) for every line along the axis.
template <typename F>
void for_each_line(const Tensor& x, int axis, const F& f) {
  const Tensor rows = view::transpose(x, axis, -1);
  const std::int64_t n = rows.size(-1);
  const std::vector<float> all = rows.to_vector<float>();
  const std::int64_t lines = n == 0 ? 0 : x.numel() / n;
  for (std::int64_t i = 0; i < lines; ++i) {
    f(i, std::vector<float>(all.begin() + i * n, all.begin() + (i + 1) * n));
  }
}

Indices line_of(const Tensor& indices, int axis, std::int64_t i) {
  const Tensor rows = view::transpose(indices, axis, -1);
  const Indices all = rows.to_vector<std::int64_t>();
  const std::int64_t n = rows.size(-1);
  return {all.begin() + i * n, all.begin() + (i + 1) * n};
}

const Shape kShapes[] = {{1}, {7}, {17, 63}, {5, 65, 3}, {2, 200}, {3, 0}, {0, 3}, {130, 2}};

TEST(Sort, ByTheDefinitionOnEveryAxis) {
  for (const Shape& shape : kShapes) {
    const Tensor x = ties(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const bool descending : {false, true}) {
        const Ordered y = sort(x, axis, descending);
        EXPECT_EQ(y.indices.shape(), shape);
        EXPECT_TRUE(same_bits(y.values, gather(x, axis, y.indices)));
        EXPECT_TRUE(same_bits(y.indices, argsort(x, axis, descending)));
        for_each_line(x, axis, [&](std::int64_t i, const std::vector<float>& line) {
          EXPECT_EQ(line_of(y.indices, axis, i), order_of(line, descending));
        });
      }
    }
  }
}

TEST(TopK, TheFirstOfTheSortedOnEveryAxis) {
  for (const Shape& shape : kShapes) {
    const Tensor x = ties(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t n = shape[axis];
      for (const std::int64_t k : {std::int64_t{0}, std::min<std::int64_t>(1, n), n / 2, n}) {
        const Ordered y = topk(x, k, axis);
        const Ordered all = sort(x, axis, true);
        EXPECT_TRUE(same_bits(y.values, view::slice(all.values, axis, 0, k)));
        EXPECT_TRUE(same_bits(y.indices, view::slice(all.indices, axis, 0, k)));
      }
    }
  }
}

TEST(ArgExtremes, TheFirstOfTheSortedOnEveryAxis) {
  for (const Shape& shape : kShapes) {
    const Tensor x = ties(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 0) continue;
      const auto first = [&](bool descending) {
        return view::slice(sort(x, axis, descending).indices, axis, 0, 1);
      };
      EXPECT_TRUE(same_bits(argmax(x, axis, {.keep_axes = true}), first(true)));
      EXPECT_TRUE(same_bits(argmin(x, axis, {.keep_axes = true}), first(false)));
      EXPECT_TRUE(same_bits(argmax(x, axis), view::squeeze(first(true), axis)));
    }
  }
}

TEST(Order, NanIsTheLargest) {
  const Tensor x = from_values({1.0f, kNaN, 3.0f, kNaN, -INFINITY, INFINITY}, {6});
  EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), (Indices{4, 0, 2, 5, 1, 3}));
  EXPECT_EQ(argsort(x, -1, true).to_vector<std::int64_t>(), (Indices{1, 3, 5, 2, 0, 4}));
  EXPECT_EQ(topk(x, 3).indices.to_vector<std::int64_t>(), (Indices{1, 3, 5}));
  EXPECT_EQ(argmax(x).item(), 1.0);
  EXPECT_EQ(argmin(x).item(), 1.0);
  // Far into a line, where whole blocks are skipped.
  for (const std::int64_t place : {64, 100, 130, 199}) {
    Tensor line = zeros({200});
    line.mutable_data<float>()[place] = kNaN;
    EXPECT_EQ(argmax(line).item(), static_cast<double>(place));
    EXPECT_EQ(argmin(line).item(), static_cast<double>(place));
    EXPECT_EQ(topk(line, 2).indices.to_vector<std::int64_t>(), (Indices{place, 0}));
  }
}

TEST(Order, EveryPlaceInALongLine) {
  for (std::int64_t place = 0; place < 200; ++place) {
    Tensor line = zeros({200});
    line.mutable_data<float>()[place] = 1.0f;
    EXPECT_EQ(argmax(line).item(), static_cast<double>(place));
    EXPECT_EQ(topk(line, 1).indices.item(), static_cast<double>(place));
    line.mutable_data<float>()[place] = -1.0f;
    EXPECT_EQ(argmin(line).item(), static_cast<double>(place));
  }
}

TEST(Order, OtherElementTypesAndLayouts) {
  const Tensor ints = from_values<std::int64_t>({3, 1, 2, 9, 9, 0}, {2, 3});
  EXPECT_EQ(argmax(ints, 1).to_vector<std::int64_t>(), (Indices{0, 0}));
  EXPECT_EQ(argsort(view::transpose(ints, 0, 1), 0).to_vector<std::int64_t>(),
            (Indices{1, 2, 2, 0, 0, 1}));
  const Tensor bytes = from_values<std::uint8_t>({3, 200, 100}, {3});
  EXPECT_EQ(sort(bytes).values.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{3, 100, 200}));
  const Tensor words = from_values<std::int32_t>({-3, 200, 100}, {3});
  EXPECT_EQ(topk(words, 2).values.to_vector<std::int32_t>(), (std::vector<std::int32_t>{200, 100}));
  EXPECT_EQ(argmin(from_values({2.0, -1.0}, {2})).item(), 1.0);
}

TEST(Order, SameBitsForAnyNumberOfThreads) {
  const Tensor x = ties({301, 305});
  const int before = num_threads();
  set_num_threads(1);
  const Ordered one = sort(x);
  const Ordered best = topk(x, 20, 0);
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    EXPECT_TRUE(same_bits(sort(x).indices, one.indices));
    EXPECT_TRUE(same_bits(topk(x, 20, 0).indices, best.indices));
  }
  set_num_threads(before);
}

TEST(Order, RecordsNothing) {
  Tensor x = ones({3}).requires_grad();
  EXPECT_FALSE(sort(x).values.tracks_grad());
  EXPECT_FALSE(topk(x, 1).values.tracks_grad());
}

TEST(Order, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              topk(ones({2, 3}), 4);
            }),
            "[topk] the 4 largest along axis 1 of [2, 3]: k must be from 0 to 3");
  EXPECT_THROW(topk(ones({3}), -1), Error);
  EXPECT_EQ(error_message([] {
              argmax(ones({2, 0}), 1);
            }),
            "[argmax] shape [2, 0]: nothing to choose from along an empty axis");
  EXPECT_EQ(argmax(ones({0, 2}), 1).shape(), (Shape{0}));
  EXPECT_EQ(error_message([] { sort(ones({2}, DType::bf16)); }),
            "[sort] dtype bf16: use cast(x, DType::f32) first");
  EXPECT_THROW(argmin(ones({2}, DType::boolean)), Error);
  EXPECT_THROW(sort(scalar(1.0)), Error);
}

}  // namespace
}  // namespace heed
