#include "heed/attention/variants/local_p.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::local_p_test {
namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, DType::f64);
}

LocalPAttention layer_of(std::int64_t embed, double window, double deviation = 0.0) {
  Generator generator(6);
  LocalPAttention layer({.global = {.embed = embed}, .window = window, .deviation = deviation},
                        generator);
  layer.to(DType::f64);
  return layer;
}

// weight[j] = softmax within the window, times the Gaussian.
Tensor plain(const LocalPAttention& layer, const Tensor& x, const Tensor& h, double D) {
  const auto S = static_cast<double>(h.size(1));
  const Tensor hidden = tanh(matmul(x, transpose(layer.place_hidden.weight.data)));
  const Tensor p = sigmoid(matmul(hidden, transpose(layer.place.weight.data))) * S;  // [B, Tq, 1]
  const Tensor distance = cast_data(arange(h.size(1)), DType::f64) - p;              // [B, Tq, Tk]
  const Tensor scores = matmul(matmul(x, layer.weight), transpose(h));               // [B, Tq, Tk]
  const Tensor seen = less_equal(abs(distance), scalar(D, DType::f64));
  const Tensor weights =
      softmax(where(seen, scores, -INFINITY)) * exp(square(distance) * (-0.5 / (D / 2 * D / 2)));
  return matmul(weights, h);  // [B, Tq, E]
}

TEST(LocalPAttention, IsThatOfThePaper) {
  const Tensor x = drawn({2, 6, 4}, 1), h = drawn({2, 11, 4}, 2);
  for (const double D : {1.0, 2.5, 6.0}) {
    const LocalPAttention layer = layer_of(4, D);
    EXPECT_LE(test::max_relative_error(layer({.x = x, .memory = h}), plain(layer, x, h, D)), 1e-12)
        << D;
  }
}

TEST(LocalPAttention, WideAndFlatItIsGlobalAttention) {
  const AttentionInput in{.x = drawn({2, 6, 4}, 1), .memory = drawn({2, 11, 4}, 2)};
  const LocalPAttention local = layer_of(4, 1e9, 1e9);
  Generator generator(6);
  GlobalAttention global({.embed = 4, .score = AlignScore::general}, generator);
  global.to(DType::f64);
  EXPECT_LE(test::max_relative_error(local(in), global(in)), 1e-12);
}

TEST(LocalPAttention, LooksAtAShareOfWhatThereIs) {
  LocalPAttention layer({.global = {.embed = 4}, .window = 3.0});
  layer.place.weight.data = zeros({1, 4});  // sigmoid(0): the middle
  const Tensor x = zeros({2, 3, 4}), h = zeros({2, 8, 4});
  const Tensor lengths = from_values<std::int64_t>({8, 5}, {2});
  const auto places = [&](const AttentionInput& in) { return layer.places(in).to_vector<float>(); };
  EXPECT_EQ(places({.x = x, .memory = h, .lengths = lengths}),
            (std::vector<float>{4, 4, 4, 2.5, 2.5, 2.5}));
  EXPECT_EQ(places({.x = x, .causal = true}), (std::vector<float>{0.5, 1, 1.5, 0.5, 1, 1.5}));
  const Tensor short_ones = from_values<std::int64_t>({2, 0}, {2});
  EXPECT_EQ(places({.x = x, .lengths = short_ones, .causal = true}),
            (std::vector<float>{0.5, 1, 1, 0, 0, 0}));
}

// Only the place reaches the result here: all scores are equal. A window that holds every state
// has no edge to fall off.
TEST(LocalPAttention, ThePlaceLearns) {
  LocalPAttention layer = layer_of(4, 40.0, 2.0);
  layer.weight = zeros({4, 4}, DType::f64);
  const Tensor x = drawn({2, 3, 4}, 1), h = drawn({2, 9, 4}, 2);
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> in) {
        layer.place_hidden.weight.data = in[0];
        layer.place.weight.data = in[1];
        return layer({.x = x, .memory = h});
      },
      std::vector{layer.place_hidden.weight.data, layer.place.weight.data});
  EXPECT_TRUE(result.ok) << result.message;
  layer.place.weight.data = drawn({1, 4}, 3).requires_grad();
  sum(layer({.x = x, .memory = h})).backward();
  EXPECT_GT(sum(abs(layer.place.weight.data.grad())).item(), 1e-3);
}

TEST(LocalPAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { LocalPAttention({.global = {.embed = 4}, .window = 0.0}); }),
            "[local_p] window 0 and deviation 0: the Gaussian has no width, give one of them");
}

}  // namespace
}  // namespace heed::local_p_test
