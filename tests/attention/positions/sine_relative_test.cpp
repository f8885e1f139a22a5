#include "heed/attention/positions/sine_relative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/attention/attention.h"
#include "heed/attention/positions/sine_code.h"
#include "heed/attention/stages/observers.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

// The scores that the code adds, for keys of zeros.
Tensor added_scores(const Position& code, const Tensor& q, std::int64_t Tk, Corner corner) {
  Tensor scores;
  AttentionSpec spec{.observers = {observe_scores(scores)}};
  code.modify(spec, corner);
  const Tensor k = zeros({q.size(0), q.size(1), Tk, q.size(3)}, q.dtype());
  attention(q, k, k, spec);
  return scores;
}

// PE(l) of three features for L = 4: two sines and one cosine.
double three_features(std::int64_t l, std::int64_t f) {
  const double angle = std::numbers::pi * static_cast<double>(l) / 4.0;
  return f == 0 ? std::sin(angle) : f == 1 ? std::sin(2.0 * angle) : std::cos(angle);
}

TEST(SineRelative, AddsTheProductOfTheQueryAndTheCodeOfTheDistance) {
  const SineRelative code({.max_length = 4}, {.head = 3});
  const Tensor q = randn({1, 2, 5, 3}, DType::f64);
  for (const std::int64_t shift : {0, 3, 40, -6}) {
    const Tensor scores = added_scores(code, q, 7, Corner::offset(shift));
    const std::vector<double> actual = scores.to_vector<double>();
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
          double expected = 0.0;
          for (std::int64_t f = 0; f < 3; ++f) {
            expected += q.data<double>()[(h * 5 + i) * 3 + f] * three_features(i + shift - j, f);
          }
          EXPECT_NEAR(actual[static_cast<std::size_t>((h * 5 + i) * 7 + j)],
                      expected / std::sqrt(3.0), 1e-13);
        }
      }
    }
  }
}

// sin(a - b) = sin a cos b - cos a sin b, cos(a - b) = cos a cos b + sin a sin b: the relative code
// follows from absolute codes.
TEST(SineRelative, FollowsFromAbsoluteCodes) {
  const auto value = sine_code(8, 9);
  for (std::int64_t l = 0; l < 9; ++l) {
    for (std::int64_t r = 0; r < 9; ++r) {
      for (std::int64_t f = 0; f < 4; ++f) {
        const double sin_l = value(l, f), cos_l = value(l, f + 4);
        const double sin_r = value(r, f), cos_r = value(r, f + 4);
        EXPECT_NEAR(value(l - r, f), sin_l * cos_r - cos_l * sin_r, 1e-14);
        EXPECT_NEAR(value(l - r, f + 4), cos_l * cos_r + sin_l * sin_r, 1e-14);
      }
    }
  }
}

TEST(SineRelative, TellsKeysBeforeFromKeysAfter) {
  const SineRelative code({.max_length = 16}, {.head = 2});
  const auto scores = [&](float first, float second) {
    const Tensor q = from_values({first, second, first, second, first, second}, {1, 1, 3, 2});
    return added_scores(code, q, 3, Corner::top_left).to_vector<float>();
  };
  const std::vector<float> sine = scores(1.0f, 0.0f), cosine = scores(0.0f, 1.0f);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sine[i * 3 + i], 0.0f);
    EXPECT_FLOAT_EQ(cosine[i * 3 + i], 1.0f / std::sqrt(2.0f));
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(sine[i * 3 + j], 0.0f);
      EXPECT_FLOAT_EQ(sine[i * 3 + j], -sine[j * 3 + i]);
      EXPECT_FLOAT_EQ(cosine[i * 3 + j], cosine[j * 3 + i]);
    }
  }
}

TEST(SineRelative, HeadsOfAnotherSizeAreRefused) {
  const SineRelative code({}, {.head = 2});
  EXPECT_EQ(error_message([&] {
              added_scores(code, ones({1, 1, 3, 4}), 3, Corner::top_left);
            }),
            "[attention] table of shaw_keys [5, 2]: it must be [2c + 1, 4] or [1, 2c + 1, 4]");
  EXPECT_EQ(error_message([] { SineRelative({}, {.embed = 8}); }),
            "[sine_relative] head is 0: it must be at least 1");
}

}  // namespace
}  // namespace heed
