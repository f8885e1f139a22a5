#include "heed/attention/variants/transformer_xl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heed/attention/masks.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/autograd/tape.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;

using Matrix = std::vector<std::vector<double>>;

TransformerXlAttention make(TransformerXlConfig config = {.embed = 6, .heads = 2}) {
  Generator generator(11);
  TransformerXlAttention layer(config, generator);
  // First values of u and v are too small to be missed.
  layer.r_w_bias = normal(layer.r_w_bias.shape(), 0.0, 1.0, generator).requires_grad();
  layer.r_r_bias = normal(layer.r_r_bias.shape(), 0.0, 1.0, generator).requires_grad();
  layer.eval();
  return layer;
}

Tensor part(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return clone_data(view::slice(x, 1, begin, end));
}

// ---- the paper's formulas, by loops in double ---------------------------------------------------

Matrix matrix(const Tensor& x) {
  Matrix rows(static_cast<std::size_t>(x.size(0)));
  const std::vector<double> values = x.to_vector<double>();
  const auto columns = static_cast<std::size_t>(x.size(1));
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / columns].push_back(values[i]);
  return rows;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> plus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// Rows [first, first + count) of weight times x.
std::vector<double> map(const Matrix& weight, std::size_t first, std::size_t count,
                        const std::vector<double>& x) {
  std::vector<double> y;
  for (std::size_t i = first; i < first + count; ++i) y.push_back(dot(weight[i], x));
  return y;
}

// R_d: sines then cosines of d / 10000^(2k/E).
std::vector<double> sinusoids(int distance, std::size_t E) {
  std::vector<double> code(E);
  for (std::size_t k = 0; k < E / 2; ++k) {
    const double angle =
        distance / std::pow(10000.0, 2.0 * static_cast<double>(k) / static_cast<double>(E));
    code[k] = std::sin(angle);
    code[E / 2 + k] = std::cos(angle);
  }
  return code;
}

// The layer's weights taken apart.
struct Paper {
  explicit Paper(const TransformerXlAttention& layer)
      : qkv(matrix(layer.qkv_net.weight.data)),
        r(matrix(layer.r_net.weight.data)),
        u(matrix(layer.r_w_bias)),
        v(matrix(layer.r_r_bias)),
        E(qkv[0].size()),
        D(u[0].size()) {}

  std::vector<double> query(std::size_t h, const std::vector<double>& x) const {
    return map(qkv, h * D, D, x);
  }
  std::vector<double> key(std::size_t h, const std::vector<double>& x) const {
    return map(qkv, E + h * D, D, x);
  }
  std::vector<double> distance(std::size_t h, int d) const {
    return map(r, h * D, D, sinusoids(d, E));
  }
  // (a) + (b) + (c) + (d) of equation 5, each as it stands there.
  double score(std::size_t h, const std::vector<double>& x_i, const std::vector<double>& x_j,
               int d) const {
    return (dot(query(h, x_i), key(h, x_j)) + dot(query(h, x_i), distance(h, d)) +
            dot(u[h], key(h, x_j)) + dot(v[h], distance(h, d))) /
           std::sqrt(static_cast<double>(D));
  }

  Matrix qkv, r, u, v;
  std::size_t E, D;
};

std::vector<double> softmax_of(const std::vector<double>& scores) {
  std::vector<double> weights;
  double total = 0.0;
  for (const double s : scores) total += std::exp(s);
  for (const double s : scores) weights.push_back(std::exp(s) / total);
  return weights;
}

TEST(TransformerXl, WeightsAreThoseOfEquationFive) {
  TransformerXlAttention layer = make();
  layer.to(DType::f64);
  const Tensor x = randn({1, 5, 6}, DType::f64), memory = randn({1, 7, 6}, DType::f64);
  const Paper paper(layer);
  for (const bool cross : {false, true}) {
    const Matrix q = matrix(view::select(x, 0, 0));
    const Matrix k = matrix(view::select(cross ? memory : x, 0, 0));
    const std::vector<double> actual =
        test::weights_of(layer, {.x = x, .memory = cross ? memory : Tensor()}).to_vector<double>();
    for (std::size_t h = 0, at = 0; h < 2; ++h) {
      for (std::size_t i = 0; i < q.size(); ++i) {
        std::vector<double> scores;
        for (std::size_t j = 0; j < k.size(); ++j) {
          scores.push_back(paper.score(h, q[i], k[j], static_cast<int>(i) - static_cast<int>(j)));
        }
        for (const double weight : softmax_of(scores)) EXPECT_NEAR(actual[at++], weight, 1e-12);
      }
    }
  }
}

// Appendix B: products with all distances M + L - 1, …, 0, then row i shifted left by L - 1 - i.
TEST(TransformerXl, ASegmentIsTheAppendixWithItsRelativeShift) {
  TransformerXlAttention layer = make();
  layer.to(DType::f64);
  const std::size_t M = 3, L = 4, D = 3;
  const Tensor earlier = randn({1, 3, 6}, DType::f64), x = randn({1, 4, 6}, DType::f64);
  const Paper paper(layer);
  const Matrix all = matrix(view::select(concat({earlier, x}, 1), 0, 0));
  Matrix context(L);
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < L; ++i) {
      const std::vector<double> q = paper.query(h, all[M + i]);
      std::vector<double> unshifted;
      for (int d = static_cast<int>(M + L) - 1; d >= 0; --d) {
        unshifted.push_back(dot(plus(q, paper.v[h]), paper.distance(h, d)));
      }
      std::vector<double> scores;
      for (std::size_t j = 0; j <= M + i; ++j) {
        const double content = dot(plus(q, paper.u[h]), paper.key(h, all[j]));
        scores.push_back((content + unshifted[j + L - 1 - i]) / std::sqrt(3.0));
      }
      const std::vector<double> weights = softmax_of(scores);
      std::vector<double> sum(D, 0.0);
      for (std::size_t j = 0; j < weights.size(); ++j) {
        const std::vector<double> value = map(paper.qkv, 12 + h * D, D, all[j]);
        for (std::size_t d = 0; d < D; ++d) sum[d] += weights[j] * value[d];
      }
      context[i].insert(context[i].end(), sum.begin(), sum.end());
    }
  }
  const Matrix out = matrix(layer.o_net.weight.data);
  const std::vector<double> y = layer.segment(x, earlier).to_vector<double>();
  for (std::size_t i = 0; i < L; ++i) {
    for (std::size_t e = 0; e < 6; ++e) {
      EXPECT_NEAR(y[i * 6 + e], dot(out[e], context[i]), 1e-12);
    }
  }
}

// ---- segments -----------------------------------------------------------------------------------

TEST(TransformerXl, TwoSegmentsByStepAreTheCausalWhole) {
  const TransformerXlAttention layer = make();
  const Tensor x = randn({2, 11, 6});
  const Tensor whole = layer({.x = x, .causal = true});
  const auto state = layer.start({.batch = 2});
  EXPECT_LE(max_relative_error(layer.step(part(x, 0, 5), *state), part(whole, 0, 5)), 2e-6);
  EXPECT_LE(max_relative_error(layer.step(part(x, 5, 11), *state), part(whole, 5, 11)), 2e-6);
}

TEST(TransformerXl, TwoSegmentsInTrainingAreTheCausalWhole) {
  const TransformerXlAttention layer = make();
  const Tensor x = randn({2, 11, 6});
  const Tensor whole = layer({.x = x, .causal = true});
  EXPECT_LE(max_relative_error(layer.segment(part(x, 0, 5), {}), part(whole, 0, 5)), 2e-6);
  EXPECT_LE(max_relative_error(layer.segment(part(x, 5, 11), part(x, 0, 5)), part(whole, 5, 11)),
            2e-6);
}

TEST(TransformerXl, EarlierSegmentsGetNoGradientButTeach) {
  const TransformerXlAttention layer = make();
  Tensor earlier = randn({1, 3, 6}).requires_grad(), x = randn({1, 4, 6}).requires_grad();
  sum(layer.segment(x, earlier)).backward();
  EXPECT_FALSE(earlier.grad().defined());
  EXPECT_TRUE(x.grad().defined());
  for (const NamedTensor& parameter : layer.named_parameters()) {
    ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    EXPECT_NE(parameter.tensor.grad().to_vector<float>(),
              std::vector<float>(static_cast<std::size_t>(parameter.tensor.numel()), 0.0f))
        << parameter.name;
  }
}

TEST(TransformerXl, ALimitedMemoryIsAWindow) {
  TransformerXlAttention limited = make({.embed = 6, .heads = 2, .mem_length = 4});
  const TransformerXlAttention all = make();  // the same parameters
  const Tensor x = randn({1, 150, 6});
  const Tensor expected = all({.x = x, .causal = true, .mask = window(4, kUnlimited)});
  EXPECT_LE(max_relative_error(limited({.x = x, .causal = true}), expected), 2e-6);
  EXPECT_GT(max_relative_error(all({.x = x, .causal = true}), expected), 1e-2);
  EXPECT_LE(max_relative_error(limited.segment(part(x, 20, 150), part(x, 0, 20)),
                               part(expected, 20, 150)),
            2e-6);
}

// The first step is longer than what the cache of a limited memory takes at once.
TEST(TransformerXl, ALimitedMemoryDecodesSegmentsOfAnyLength) {
  const TransformerXlAttention layer = make({.embed = 6, .heads = 2, .mem_length = 4});
  const Tensor x = randn({1, 300, 6});
  const Tensor whole = layer({.x = x, .causal = true});
  const auto state = layer.start({.batch = 1});
  std::int64_t at = 0;
  for (const std::int64_t length : {150, 1, 3, 64, 65, 17}) {
    const Tensor y = layer.step(part(x, at, at + length), *state);
    EXPECT_LE(max_relative_error(y, part(whole, at, at + length)), 2e-6) << "from " << at;
    at += length;
  }
  EXPECT_EQ(at, 300);
}

// ---- limits and bad input -----------------------------------------------------------------------

TEST(TransformerXl, WithoutDistancesItIsMultiHeadAttention) {
  TransformerXlAttention layer = make();
  layer.r_net.weight.data = zeros({6, 6});
  layer.r_w_bias = zeros({2, 3});
  MultiHeadAttention plain({.embed = 6, .heads = 2, .bias = false});
  plain.in_proj->weight.data = layer.qkv_net.weight.data;
  plain.out_proj.weight.data = layer.o_net.weight.data;
  const Tensor x = randn({2, 7, 6});
  EXPECT_LE(max_relative_error(layer({.x = x, .causal = true}), plain({.x = x, .causal = true})),
            1e-6);
}

TEST(TransformerXl, ParametersAreNamedAsByTheAuthors) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : make().named_parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"qkv_net.weight", "r_net.weight", "o_net.weight",
                                             "r_w_bias", "r_r_bias"}));
}

TEST(TransformerXl, DropoutWorksInTrainingAlone) {
  TransformerXlAttention layer = make({.embed = 6, .heads = 2, .dropout = 0.5});
  const Tensor x = randn({1, 9, 6});
  EXPECT_TRUE(test::same_bits(layer({.x = x}), layer({.x = x})));
  layer.train();
  EXPECT_FALSE(test::same_bits(layer({.x = x}), layer({.x = x})));
}

TEST(TransformerXl, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { TransformerXlAttention({.embed = 6, .heads = 4}); }),
            "[transformer_xl] embed 6 is not a multiple of heads 4");
  EXPECT_EQ(error_message([] { TransformerXlAttention({.mem_length = -1}); }),
            "[transformer_xl] mem_length -1: it must be 0 or more");
  EXPECT_EQ(error_message([] { TransformerXlAttention({.dropout = 1.0}); }),
            "[transformer_xl] dropout 1: it must be at least 0 and below 1");
  const TransformerXlAttention layer = make();
  EXPECT_EQ(error_message([&] {
              layer.segment(ones({1, 2, 6}), ones({2, 2, 6}));
            }),
            "[transformer_xl] memory is [2, 2, 6]: it must be [1, Tk, 6]");
  const auto state = MultiHeadAttention({.embed = 6, .heads = 2}).start({});
  EXPECT_EQ(error_message([&] {
              layer.step(ones({1, 2, 6}), *state);
            }),
            "[transformer_xl] the state is another layer's: give what start() returned");
}

}  // namespace
}  // namespace heed
