#include "heed/ops/matmul.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using kernels::Unary;
using test::check_op;

TEST(Matmul, OddSizesAndEmpty) {
  for (const auto& [m, n, k] : std::initializer_list<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {7, 5, 3}, {17, 1, 9}, {1, 17, 4}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}}) {
    check_op({.name = "matmul", .shapes = {{m, k}, {k, n}}, .op = [](auto in) {
                return matmul(in[0], in[1]);
              }});
  }
}

TEST(Matmul, LargeProductsAreTiled) {
  // The sizes pass through the tile grid, the padded copies and ragged edges.
  for (const auto& [m, n, k] : std::initializer_list<std::array<std::int64_t, 3>>{
           {63, 257, 129}, {64, 512, 256}, {200, 256, 65}, {256, 300, 512}}) {
    check_op({.name = "matmul",
              .shapes = {{m, k}, {k, n}},
              .op = [](auto in) { return matmul(in[0], in[1]); },
              .tolerance = 1e-4,  // sums of 512 products of either sign
              .gradient_tolerance = 1e-4});
    check_op({.name = "matmul transposed",
              .shapes = {{k, m}, {n, k}},
              .op = [](auto in) { return matmul(transpose(in[0]), transpose(in[1])); },
              .tolerance = 1e-4,  // sums of 512 products of either sign
              .gradient_tolerance = 1e-4});
  }
}

TEST(Matmul, BatchesBroadcast) {
  check_op({.name = "batched", .shapes = {{3, 5, 7}, {3, 7, 2}}, .op = [](auto in) {
              return matmul(in[0], in[1]);
            }});
  check_op({.name = "broadcast right", .shapes = {{2, 3, 5, 7}, {7, 2}}, .op = [](auto in) {
              return matmul(in[0], in[1]);
            }});
  check_op({.name = "broadcast both", .shapes = {{2, 1, 5, 4}, {3, 4, 2}}, .op = [](auto in) {
              return matmul(in[0], in[1]);
            }});
  check_op({.name = "no batches", .shapes = {{0, 5, 4}, {0, 4, 2}}, .op = [](auto in) {
              return matmul(in[0], in[1]);
            }});
}

TEST(Linear, BiasAndActivationsAreFused) {
  check_op({.name = "plain", .shapes = {{3, 5, 7}, {4, 7}}, .op = [](auto in) {
              return linear(in[0], in[1]);
            }});
  for (const Unary act : {Unary::relu, Unary::gelu, Unary::gelu_tanh, Unary::silu, Unary::tanh}) {
    check_op({.name = "activated", .shapes = {{9, 7}, {13, 7}, {13}}, .op = [act](auto in) {
                return linear(in[0], in[1], {.bias = in[2], .activation = act});
              }});
  }
  check_op(
      {.name = "large",
       .shapes = {{130, 64}, {256, 64}, {256}},
       .op =
           [](auto in) { return linear(in[0], in[1], {.bias = in[2], .activation = Unary::gelu}); },
       .tolerance = 5e-6,
       .gradient_tolerance = 1e-4});
}

TEST(Linear, GradientsAddUpWhenAWeightIsUsedTwice) {
  check_op({.name = "shared weight", .shapes = {{3, 5}, {5, 5}}, .op = [](auto in) {
              return linear(linear(in[0], in[1]), in[1]);
            }});
}

TEST(Matmul, WrongShapesSayWhatIsWrong) {
  EXPECT_THROW(matmul(ones({2, 3}), ones({4, 2})), Error);
  EXPECT_THROW(matmul(ones({3}), ones({3, 2})), Error);
  EXPECT_THROW(linear(ones({2, 3}), ones({4, 5})), Error);
  EXPECT_THROW(linear(ones({2, 3}), ones({4, 3}), {.bias = ones({3})}), Error);
}

}  // namespace
}  // namespace heed
