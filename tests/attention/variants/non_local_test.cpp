// Non-local blocks: each form against plain loops, identity at first, video, subsampling.
#include "heed/attention/variants/non_local.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/conformance/conformance.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;
using Matrix = std::vector<std::vector<double>>;  // [places][channels]

constexpr NonLocalForm kForms[] = {NonLocalForm::gaussian, NonLocalForm::embedded_gaussian,
                                   NonLocalForm::dot, NonLocalForm::concat};

std::string name_of_form(NonLocalForm form) {
  return std::string(enum_names(form)[static_cast<std::size_t>(form)].name);
}

// A block whose parameters, W_z too, are random.
NonLocal random_block(const NonLocalConfig& config, DType dtype) {
  Generator generator(7);
  NonLocal block(config, generator);
  for (Tensor& parameter : block.parameters()) {
    copy_into(parameter, normal(parameter.shape(), 0.0, 0.5, generator));
  }
  block.to(dtype);
  return block;
}

// ---- the block as loops -------------------------------------------------------------------------

Matrix plain_linear(const Linear& by, const Matrix& x) {
  const std::int64_t outs = by.weight.data.size(0), ins = by.weight.data.size(1);
  Matrix y(x.size(), std::vector<double>(static_cast<std::size_t>(outs)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::int64_t o = 0; o < outs; ++o) {
      double sum = by.bias.data<double>()[o];
      for (std::int64_t c = 0; c < ins; ++c) {
        sum += by.weight.data.data<double>()[o * ins + c] * x[i][static_cast<std::size_t>(c)];
      }
      y[i][static_cast<std::size_t>(o)] = sum;
    }
  }
  return y;
}

double plain_score(const NonLocal& block, NonLocalForm form, const std::vector<double>& theta,
                   const std::vector<double>& phi) {
  double dot = 0.0, sum = 0.0;
  for (std::size_t c = 0; c < theta.size(); ++c) {
    dot += theta[c] * phi[c];
    if (form != NonLocalForm::concat) continue;
    const double* const w = block.compare.data<double>();
    sum += w[c] * theta[c] + w[theta.size() + c] * phi[c];
  }
  switch (form) {
    case NonLocalForm::dot:
      return dot;
    case NonLocalForm::concat:
      return std::max(sum, 0.0);
    default:
      return std::exp(dot);
  }
}

// z at the places x. They attend to the places `asked`: either all of x, or maxima of them.
Matrix plain_block(const NonLocal& block, NonLocalForm form, const Matrix& x,
                   const std::function<Matrix(const Matrix&)>& asked) {
  const Matrix theta = block.theta ? plain_linear(*block.theta, x) : x;
  const Matrix phi = asked(block.phi ? plain_linear(*block.phi, x) : x);
  const Matrix g = asked(plain_linear(block.g, x));
  const bool gaussian = form == NonLocalForm::gaussian || form == NonLocalForm::embedded_gaussian;
  Matrix y(x.size(), std::vector<double>(g[0].size(), 0.0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double total = gaussian ? 0.0 : static_cast<double>(phi.size());
    for (std::size_t j = 0; j < phi.size(); ++j) {
      const double f = plain_score(block, form, theta[i], phi[j]);
      if (gaussian) total += f;
      for (std::size_t c = 0; c < g[j].size(); ++c) y[i][c] += f * g[j][c];
    }
    for (double& value : y[i]) value /= total;
  }
  Matrix z = plain_linear(block.out, y);
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (std::size_t c = 0; c < z[i].size(); ++c) z[i][c] += x[i][c];
  }
  return z;
}

// Picture b of [B, C, places].
Matrix places_of(const Tensor& x, std::int64_t b) {
  const std::int64_t C = x.size(1), N = x.numel() / (x.size(0) * C);
  Matrix places(static_cast<std::size_t>(N), std::vector<double>(static_cast<std::size_t>(C)));
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t c = 0; c < C; ++c) {
      places[static_cast<std::size_t>(n)][static_cast<std::size_t>(c)] =
          x.data<double>()[(b * C + c) * N + n];
    }
  }
  return places;
}

void expect_equal(const Matrix& actual, const Matrix& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t n = 0; n < actual.size(); ++n) {
    for (std::size_t c = 0; c < actual[n].size(); ++c) {
      EXPECT_NEAR(actual[n][c], expected[n][c], 1e-12) << n << ' ' << c;
    }
  }
}

const auto everything = [](const Matrix& x) { return x; };

TEST(NonLocal, EveryFormEqualsPlainLoopsOnPicturesAndVideo) {
  Generator generator(9);
  for (const NonLocalForm form : kForms) {
    SCOPED_TRACE(name_of_form(form));
    const NonLocal block = random_block({.embed = 6, .channels = 4, .form = form}, DType::f64);
    for (const Shape& shape : {Shape{2, 6, 3, 5}, Shape{2, 6, 4, 3, 2}}) {
      const Tensor x = normal(shape, 0.0, 0.7, generator, DType::f64);
      const Tensor z = block({.x = x});
      ASSERT_EQ(z.shape(), shape);
      for (std::int64_t b = 0; b < 2; ++b) {
        expect_equal(places_of(z, b), plain_block(block, form, places_of(x, b), everything));
      }
    }
  }
}

TEST(NonLocal, SubsamplingAsksTheMaximaOfSquares) {
  Generator generator(10);
  // Two frames of 4 x 5 places: squares of 2 x 2 leave the last column out.
  const auto squares = [](const Matrix& x) {
    Matrix found;
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t h = 0; h < 4; h += 2) {
        for (std::size_t w = 0; w < 4; w += 2) {
          std::vector<double> best = x[t * 20 + h * 5 + w];
          for (const std::size_t other : {1, 5, 6}) {
            for (std::size_t c = 0; c < best.size(); ++c) {
              best[c] = std::max(best[c], x[t * 20 + h * 5 + w + other][c]);
            }
          }
          found.push_back(best);
        }
      }
    }
    return found;
  };
  for (const NonLocalForm form : kForms) {
    SCOPED_TRACE(name_of_form(form));
    const NonLocal block = random_block({.embed = 4, .form = form, .subsample = 2}, DType::f64);
    const Tensor x = normal({2, 4, 2, 4, 5}, 0.0, 0.7, generator, DType::f64);
    const Tensor z = block({.x = x});
    for (std::int64_t b = 0; b < 2; ++b) {
      expect_equal(places_of(z, b), plain_block(block, form, places_of(x, b), squares));
    }
    EXPECT_EQ(test::weights_of(block, {.x = x}).shape(), (Shape{2, 1, 40, 8}));
  }
}

TEST(NonLocal, EveryFormKeepsTheContractOfTheSuite) {
  for (const NonLocalForm form : kForms) {
    const std::string sample = "channels=5 form=" + name_of_form(form);
    Mechanism mechanism = kNonLocal;
    mechanism.about.sample = sample;
    for (const test::Check& check : test::all_checks()) {
      for (const std::string& failure : check.run(test::subject_of(mechanism))) {
        ADD_FAILURE() << sample << ", " << check.name << ": " << failure;
      }
    }
  }
}

TEST(NonLocal, StartsAsTheIdentityAndLearnsFromThere) {
  for (const NonLocalForm form : kForms) {
    NonLocal block({.embed = 4, .form = form});
    const Tensor x = randn({1, 4, 3, 3});
    const Tensor z = block({.x = x});
    EXPECT_TRUE(test::same_bits(z, x)) << name_of_form(form);
    backward(z, ones(z.shape()));
    double size = 0.0;
    for (const float d : block.out.weight.data.grad().to_vector<float>()) size += std::abs(d);
    EXPECT_GT(size, 0.0) << name_of_form(form);
  }
}

TEST(NonLocal, WeightsOfGaussianFormsSumToOneAndOthersAreShares) {
  const Tensor x = randn({1, 4, 2, 3});
  for (const NonLocalForm form : kForms) {
    const NonLocal block = random_block({.embed = 4, .form = form}, DType::f32);
    const std::vector<float> w = test::weights_of(block, {.x = x}).to_vector<float>();
    ASSERT_EQ(w.size(), 36u);
    float least = 0.0f, first_row = 0.0f;
    for (const float value : w) least = std::min(least, value);
    for (std::size_t j = 0; j < 6; ++j) first_row += w[j];
    if (form == NonLocalForm::gaussian || form == NonLocalForm::embedded_gaussian) {
      EXPECT_NEAR(first_row, 1.0, 1e-6);
    }
    EXPECT_EQ(least < 0.0f, form == NonLocalForm::dot) << name_of_form(form);
  }
}

TEST(NonLocal, WrongUseSaysWhatIsWrong) {
  const NonLocal block({.embed = 4});
  EXPECT_EQ(error_message([&] {
              block({.x = zeros({1, 3, 2, 2})});
            }),
            "[non_local] x is [1, 3, 2, 2]: it must be [B, 4, H, W] or [B, 4, T, H, W]");
  EXPECT_EQ(error_message([&] {
              block({.x = zeros({1, 4, 2, 2}), .causal = true});
            }),
            "[non_local] a memory, lengths, causal or a mask is given: every place of a "
            "picture attends to every other; give x alone");
  EXPECT_EQ(error_message([] { make_attention("non_local", {"form=dots"}); }),
            "[config] \"form=dots\": form is \"dots\": it must be one of gaussian, "
            "embedded_gaussian, dot, concat; did you mean dot?");
}

}  // namespace
}  // namespace heed
