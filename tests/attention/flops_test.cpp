// What ops say that they do (heed/base/flops.h): products, convolutions, recurrences, attention,
// forward and backward.
#include "heed/base/flops.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/decode.h"
#include "heed/attention/masks.h"
#include "heed/autograd/tape.h"
#include "heed/ops/conv.h"
#include "heed/ops/matmul.h"
#include "heed/ops/rnn.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

struct Flops {
  std::int64_t forward, backward;
  bool operator==(const Flops&) const = default;
};
void PrintTo(const Flops& f, std::ostream* to) { *to << f.forward << " and " << f.backward; }

template <typename Op>
Flops flops_of(const Op& op) {
  const FlopCounter forward;
  const Tensor y = op();
  const FlopCounter back;
  backward(y, ones(y.shape(), y.dtype()));
  return {forward.count(), back.count()};
}

Tensor learned(const Shape& shape, DType dtype = DType::f32) {
  return randn(shape, dtype).requires_grad();
}

TEST(FlopsOfOps, Matmul) {
  const Tensor a = learned({3, 4, 5}), b = learned({3, 5, 6});
  EXPECT_EQ(flops_of([&] { return matmul(a, b); }), (Flops{2 * 3 * 4 * 5 * 6, 4 * 3 * 4 * 5 * 6}));
  const Tensor fixed = randn({3, 4, 5});
  EXPECT_EQ(flops_of([&] { return matmul(fixed, b); }),
            (Flops{2 * 3 * 4 * 5 * 6, 2 * 3 * 4 * 5 * 6}));
}

TEST(FlopsOfOps, Convolution) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = learned({2, 8, 20}, dtype), w = learned({6, 4, 3}, dtype);
    const std::int64_t once = 2 * 2 * 6 * 18 * (4 * 3);
    EXPECT_EQ(flops_of([&] { return conv1d(x, w, {.groups = 2}); }), (Flops{once, 2 * once}));
  }
  const Tensor x = learned({2, 6, 20}), each = learned({6, 1, 3});
  const std::int64_t once = 2 * 2 * 6 * 18 * 3;
  EXPECT_EQ(flops_of([&] { return conv1d(x, each, {.groups = 6}); }), (Flops{once, 2 * once}));
}

TEST(FlopsOfOps, RecurrenceOfStepsThatAreThere) {
  const Tensor x = learned({2, 10, 5});
  const std::int64_t steps = 10 + 3, H = 7;
  const Tensor lengths = from_values<std::int64_t>({10, 3}, {2});
  for (const std::int64_t gates : {3, 4}) {
    const RnnWeights w{learned({gates * H, 5}), learned({gates * H, H})};
    const std::int64_t input = 2 * (2 * 10) * gates * H * 5;  // all rows: one product
    const std::int64_t state = 2 * steps * gates * H * H;
    const std::int64_t state_weight = 2 * (2 * 10) * gates * H * H;
    const auto op = gates == 3 ? gru : lstm;
    EXPECT_EQ(flops_of([&] { return op(x, w, {.lengths = lengths}).output; }),
              (Flops{input + state, 2 * input + state + state_weight}));
  }
}

TEST(FlopsOfOps, AttentionOfPairsThatAreVisible) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor q = learned({2, 4, 30, 8}, dtype), k = learned({2, 2, 30, 8}, dtype);
    const Tensor v = learned({2, 2, 30, 5}, dtype);
    const auto pairs = [](std::int64_t each) {
      return Flops{2 * 2 * 4 * each * (8 + 5), 2 * 2 * 4 * each * (3 * 8 + 2 * 5)};
    };
    EXPECT_EQ(flops_of([&] { return attention(q, k, v); }), pairs(30 * 30));
    EXPECT_EQ(flops_of([&] { return attention(q, k, v, {.mask = causal()}); }), pairs(30 * 31 / 2));
  }
}

TEST(FlopsOfOps, Decoding) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    KvCache cache({.heads = 2, .features = 16, .dtype = dtype});
    cache.append(randn({1, 2, 9, 16}), randn({1, 2, 9, 16}));
    const FlopCounter counter;
    attention_decode(randn({1, 4, 1, 16}), cache, {.mask = causal(Corner::bottom_right)});
    EXPECT_EQ(counter.count(), 2 * 4 * 9 * (16 + 16));
  }
}

}  // namespace
}  // namespace heed
