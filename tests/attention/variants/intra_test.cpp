#include "heed/attention/variants/intra.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/nn/rnn.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::intra_test {
namespace {

constexpr std::int64_t kE = 3, kT = 5;

IntraAttention make() {
  Generator generator(7);
  IntraAttention layer({.embed = kE}, generator);
  layer.to(DType::f64);
  return layer;
}

double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// W x + b, or W x.
std::vector<double> linear(const Linear& map, const std::vector<double>& x) {
  const std::vector<double> w = map.weight.data.to_vector<double>();
  std::vector<double> y(w.size() / x.size(), 0.0);
  for (std::size_t o = 0; o < y.size(); ++o) {
    if (map.bias.defined()) y[o] = map.bias.to_vector<double>()[o];
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += w[o * x.size() + i] * x[i];
  }
  return y;
}

// The equations of the paper by loops.
TEST(IntraAttention, IsThePapersEquations) {
  const IntraAttention layer = make();
  const Tensor x = randn({1, kT, kE}, DType::f64);
  const std::vector<double> numbers = x.to_vector<double>();
  const std::vector<double> v = layer.score.to_vector<double>();
  std::vector<std::vector<double>> h, c;
  std::vector<double> read(kE, 0.0), right;
  for (std::size_t t = 0; t < kT; ++t) {
    const std::vector<double> xt(numbers.begin() + static_cast<long>(t * kE),
                                 numbers.begin() + static_cast<long>((t + 1) * kE));
    const std::vector<double> of_x = linear(layer.score_input, xt);
    const std::vector<double> of_read = linear(layer.score_read, read);
    std::vector<double> e;
    double total = 0.0;
    for (const auto& state : h) {
      const std::vector<double> of_state = linear(layer.score_key, state);
      double s = 0.0;
      for (std::size_t d = 0; d < v.size(); ++d) {
        s += v[d] * std::tanh(of_state[d] + of_x[d] + of_read[d]);
      }
      e.push_back(std::exp(s));
      total += e.back();
    }
    read.assign(kE, 0.0);
    std::vector<double> memory(kE, 0.0);
    for (std::size_t i = 0; i < h.size(); ++i) {
      for (std::size_t d = 0; d < kE; ++d) {
        read[d] += e[i] / total * h[i][d];
        memory[d] += e[i] / total * c[i][d];
      }
    }
    const std::vector<double> a = linear(layer.input, xt), b = linear(layer.state, read);
    std::vector<double> state(kE), cell(kE);
    for (std::size_t d = 0; d < kE; ++d) {
      const auto gate = [&](std::size_t g) { return a[g * kE + d] + b[g * kE + d]; };
      cell[d] = sigmoid_of(gate(1)) * memory[d] + sigmoid_of(gate(0)) * std::tanh(gate(2));
      state[d] = sigmoid_of(gate(3)) * std::tanh(cell[d]);
    }
    h.push_back(state);
    c.push_back(cell);
    right.insert(right.end(), state.begin(), state.end());
  }
  const std::vector<double> y = layer({.x = x}).to_vector<double>();
  ASSERT_EQ(y.size(), right.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], right[i], 1e-12) << i;
}

TEST(IntraAttention, AttendsToEarlierPositionsAlone) {
  const IntraAttention layer = make();
  const Tensor weights = test::weights_of(layer, {.x = randn({2, kT, kE}, DType::f64)});
  ASSERT_EQ(weights.shape(), (Shape{2, 1, kT, kT}));
  const std::vector<double> w = weights.to_vector<double>();
  for (std::size_t row = 0; row < 2 * kT; ++row) {
    double sum = 0.0;
    for (std::size_t j = 0; j < kT; ++j) {
      sum += w[row * kT + j];
      EXPECT_TRUE(j < row % kT || w[row * kT + j] == 0.0) << row << " " << j;
    }
    EXPECT_NEAR(sum, row % kT == 0 ? 0.0 : 1.0, 1e-12);
  }
}

TEST(IntraAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { IntraAttention({.embed = 0}); }),
            "[intra] embed 0, score_hidden 0: embed must be at least 1, score_hidden at least 0");
}

}  // namespace
}  // namespace heed::intra_test
