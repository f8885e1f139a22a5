#include "heed/nn/weight.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(Weight, KnowsItsSizes) {
  EXPECT_FALSE(Weight().defined());
  const Weight weight(zeros({5, 3}, DType::f64));
  EXPECT_TRUE(weight.defined());
  EXPECT_EQ(weight.out(), 5);
  EXPECT_EQ(weight.in(), 3);
  EXPECT_EQ(weight.dtype(), DType::f64);
}

TEST(Weight, AProductIsThatOfLinear) {
  Generator generator(1);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto random = [&](const Shape& shape) {
      return normal(shape, 0.0, 1.0, generator, dtype);
    };
    const Tensor matrix = random({13, 17}), bias = random({13});
    const Weight weight(matrix);
    for (const Shape& shape : {Shape{17}, Shape{1, 17}, Shape{2, 7, 17}, Shape{0, 17}}) {
      const Tensor x = random(shape);
      const LinearOptions all[] = {
          {}, {.bias = bias}, {.bias = bias, .activation = kernels::Unary::gelu}};
      for (const LinearOptions& options : all) {
        EXPECT_TRUE(test::same_bits(weight.product(x, options), linear(x, matrix, options)))
            << to_string(shape);
      }
    }
  }
}

TEST(Weight, AProductHasTheGradientOfLinear) {
  const Tensor values = randn({4, 3});
  Tensor ours = values.detach(), theirs = values.detach();
  ours.requires_grad();
  theirs.requires_grad();
  const Tensor x = randn({6, 3}), down = randn({6, 4});
  backward(Weight(ours).product(x), down);
  backward(linear(x, theirs), down);
  EXPECT_TRUE(test::same_bits(ours.grad(), theirs.grad()));
}

TEST(Weight, RowsShareTheNumbers) {
  Tensor matrix = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  const Weight rows = Weight(matrix).rows(1, 3);
  EXPECT_EQ(rows.out(), 2);
  EXPECT_EQ(rows.in(), 2);
  EXPECT_EQ(rows.data.to_vector<float>(), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(rows.data.storage(), matrix.storage()) << "no copy";
  matrix.mutable_data<float>()[2] = 9.0f;
  EXPECT_EQ(rows.data.to_vector<float>(), (std::vector<float>{9, 4, 5, 6}));
  EXPECT_EQ(Weight(matrix).rows(2, 2).out(), 0);
  EXPECT_NE(error_message([&] { Weight(matrix).rows(1, 5); }), "(no error)");
}

TEST(Weight, RowsPassTheirGradientOn) {
  const Tensor matrix = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}).requires_grad();
  const Tensor x = from_values<float>({10, 20}, {1, 2});
  sum(Weight(matrix).rows(1, 3).product(x)).backward();
  EXPECT_EQ(matrix.grad().to_vector<float>(), (std::vector<float>{0, 0, 10, 20, 10, 20, 0, 0}));

  Generator generator(3);
  const auto random = [&](const Shape& shape) {
    return normal(shape, 0.0, 1.0, generator, DType::f64).requires_grad();
  };
  const GradCheckResult result =
      gradcheck([](std::span<const Tensor> in) { return Weight(in[1]).rows(1, 3).product(in[0]); },
                std::vector{random({5, 2}), random({4, 2})});
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Weight, AnAdapterCorrectsTheMatrix) {
  Generator generator(5);
  const auto random = [&](const Shape& shape) {
    return normal(shape, 0.0, 1.0, generator, DType::f64).requires_grad();
  };
  Weight weight(random({4, 3}));
  weight.adapter = {.down = random({2, 3}), .up = random({4, 2}), .scale = 0.5};
  const Tensor x = random({5, 3}), bias = random({4});
  const Tensor whole = weight.data + matmul(weight.adapter.up, weight.adapter.down) * 0.5;
  for (const auto& activation : {std::optional<kernels::Unary>(), {kernels::Unary::tanh}}) {
    const LinearOptions options{.bias = bias, .activation = activation};
    EXPECT_LE(test::max_relative_error(weight.product(x, options), linear(x, whole, options)),
              1e-14);
  }
  EXPECT_LE(
      test::max_relative_error(weight.rows(1, 3).product(x), linear(x, slice(whole, 0, 1, 3))),
      1e-14);
  const GradCheckResult result = gradcheck(
      [](std::span<const Tensor> in) {
        Weight own(in[1]);
        own.adapter = {.down = in[2], .up = in[3], .scale = 0.5};
        return own.product(in[0], {.bias = in[4], .activation = kernels::Unary::tanh});
      },
      std::vector{x, weight.data, weight.adapter.down, weight.adapter.up, bias});
  EXPECT_TRUE(result.ok) << result.message;

  const Tensor expected = weight.product(x);
  weight.merge_adapter();
  EXPECT_FALSE(weight.adapter.defined());
  EXPECT_TRUE(weight.data.tracks_grad());
  EXPECT_LE(test::max_relative_error(weight.product(x), expected), 1e-14);
}

TEST(Weight, CopiesAreTied) {
  const Weight weight(ones({2, 2}).requires_grad());
  const Weight copy = weight;
  sum(copy.product(ones({1, 2}))).backward();
  EXPECT_EQ(weight.data.grad().to_vector<float>(), (std::vector<float>{1, 1, 1, 1}));
}

constexpr PackedForm kForms[] = {PackedForm::f32, PackedForm::bf16, PackedForm::int8};

TEST(Weight, PackedProductsAreThoseOfTheMatrix) {
  const NoGrad no_grad;
  const Tensor matrix = randn({40, 17}), x = randn({3, 17}), bias = randn({40});
  for (const PackedForm form : kForms) {
    Weight weight{matrix};
    weight.pack(form);
    EXPECT_TRUE(weight.defined());
    EXPECT_FALSE(weight.data.defined());
    EXPECT_EQ(weight.out(), 40);
    EXPECT_EQ(weight.in(), 17);
    EXPECT_EQ(weight.dtype(), DType::f32);
    const Weight plain(weight.packed->matrix());
    const double tolerance = form == PackedForm::f32 ? 2e-6 : 0.1;  // the others round x too
    EXPECT_LE(test::max_relative_error(weight.product(x, {.bias = bias}),
                                       plain.product(x, {.bias = bias})),
              tolerance);
    for (const auto& [begin, end] : {std::pair{0, 40}, {16, 32}, {3, 21}, {40, 40}}) {
      const LinearOptions options{.bias = slice(bias, 0, begin, end),
                                  .activation = kernels::Unary::gelu};
      EXPECT_LE(test::max_relative_error(weight.product_of_rows(x, begin, end, options),
                                         plain.product_of_rows(x, begin, end, options)),
                tolerance)
          << begin << " to " << end;
    }
    EXPECT_NE(error_message([&] { weight.product_of_rows(x, 1, 41); }), "(no error)");
    const Tensor ids = from_values<std::int32_t>({39, 0}, {2});
    EXPECT_TRUE(test::same_bits(weight.lookup(ids), plain.lookup(ids)));
  }
}

TEST(Weight, PackingMergesTheAdapter) {
  const NoGrad no_grad;
  Weight weight(randn({4, 3}));
  weight.adapter = {.down = randn({2, 3}), .up = randn({4, 2}), .scale = 0.5};
  const Tensor x = randn({5, 3}), expected = weight.product(x);
  weight.pack(PackedForm::f32);
  EXPECT_FALSE(weight.adapter.defined());
  EXPECT_LE(test::max_relative_error(weight.product(x), expected), 1e-5);
}

TEST(Weight, PackedWeightsHaveNoGradient) {
  Weight weight(randn({4, 3}));
  weight.pack(PackedForm::f32);
  const Tensor x = randn({5, 3}).requires_grad();
  EXPECT_NE(error_message([&] { weight.product(x); }).find("a packed weight has no gradient"),
            std::string::npos);
  const NoGrad no_grad;
  EXPECT_EQ(weight.product(x).shape(), (Shape{5, 4}));
}

}  // namespace
}  // namespace heed
