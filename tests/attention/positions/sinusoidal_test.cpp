#include "heed/attention/positions/sinusoidal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

// The paper's PE(l, 2k) = sin(l / 10000^(2k/E)), PE(l, 2k + 1) = cos(the same).
double paper(std::int64_t l, std::int64_t feature, std::int64_t E) {
  const double k = static_cast<double>(feature / 2);
  const double angle = static_cast<double>(l) / std::pow(10000.0, 2.0 * k / static_cast<double>(E));
  return feature % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

std::vector<double> codes(const PositionConfig& config, std::int64_t E, std::int64_t T) {
  return Sinusoidal(config, {.embed = E}).embed(zeros({1, T, E}, DType::f64)).to_vector<double>();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-7) << i;
}

TEST(Sinusoidal, IsThePapersFormula) {
  for (const std::int64_t E : {1, 6, 7}) {
    const std::vector<double> code = codes({.max_length = 3}, E, 5);
    for (std::int64_t l = 0; l < 5; ++l) {
      for (std::int64_t f = 0; f < E; ++f) {
        EXPECT_NEAR(code[static_cast<std::size_t>(l * E + f)], paper(l, f, E), 1e-14)
            << "E " << E << ", position " << l << ", feature " << f;
      }
    }
  }
}

TEST(Sinusoidal, HalvesHoldTheSameNumbersInAnotherOrder) {
  for (const std::int64_t E : {1, 6, 7}) {
    const std::vector<double> pairs = codes({}, E, 5), halves = codes({.halves = true}, E, 5);
    const std::int64_t sines = (E + 1) / 2;
    for (std::int64_t l = 0; l < 5; ++l) {
      for (std::int64_t f = 0; f < E; ++f) {
        const std::int64_t at = f % 2 == 0 ? f / 2 : sines + f / 2;
        EXPECT_EQ(halves[static_cast<std::size_t>(l * E + at)],
                  pairs[static_cast<std::size_t>(l * E + f)]);
      }
    }
  }
}

TEST(Sinusoidal, ABaseOfOneGivesEveryPairTheSameWave) {
  const std::vector<double> code = codes({.base = 1.0}, 4, 3);
  EXPECT_DOUBLE_EQ(code[8], std::sin(2.0));
  EXPECT_DOUBLE_EQ(code[10], std::sin(2.0));
  EXPECT_DOUBLE_EQ(code[11], std::cos(2.0));
}

// The numbers of MarianSinusoidalPositionalEmbedding of transformers 5.22.2 for positions 0 to 3.
TEST(Sinusoidal, HalvesAreThoseOfMarian) {
  // clang-format off
  const std::vector<double> six = {
      0.0, 0.0, 0.0, 1.0, 1.0, 1.0,
      0.841470957, 0.0463992245, 0.00215443294, 0.540302277, 0.998923004, 0.999997675,
      0.909297407, 0.0926984996, 0.00430885609, -0.416146845, 0.99569422, 0.999990702,
      0.141120002, 0.138798103, 0.00646325899, -0.989992499, 0.990320683, 0.999979138,
  };
  const std::vector<double> seven = {
      0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0,
      0.841470957, 0.0719064549, 0.00517945131, 0.000372759358, 0.540302277, 0.99741137, 0.999986589,
      0.909297407, 0.143440634, 0.0103587639, 0.000745518657, -0.416146845, 0.989658952, 0.999946356,
      0.141120002, 0.214232191, 0.0155377984, 0.0011182779, -0.989992499, 0.976782739, 0.999879301,
  };
  // clang-format on
  expect_near(codes({.halves = true}, 6, 4), six);
  expect_near(codes({.halves = true}, 7, 4), seven);
}

// The numbers of M2M100SinusoidalPositionalEmbedding.get_embedding of transformers 5.22.2. A text
// begins with row 2 there.
TEST(Sinusoidal, InclusiveHalvesAreThoseOfM2m100) {
  // clang-format off
  const std::vector<double> six = {
      0.909297407, 0.0199986659, 0.00019999998, -0.416146845, 0.999800026, 1.0,
      0.141120002, 0.0299954992, 0.000299999956, -0.989992499, 0.999550045, 0.99999994,
      -0.756802499, 0.0399893336, 0.000399999961, -0.653643608, 0.999200106, 0.99999994,
  };
  const std::vector<double> seven = {
      0.909297407, 0.0199986659, 0.00019999998, -0.416146845, 0.999800026, 1.0, 0.0,
      0.141120002, 0.0299954992, 0.000299999956, -0.989992499, 0.999550045, 0.99999994, 0.0,
      -0.756802499, 0.0399893336, 0.000399999961, -0.653643608, 0.999200106, 0.99999994, 0.0,
  };
  // clang-format on
  const PositionConfig config{.offset = 2, .halves = true, .inclusive = true};
  expect_near(codes(config, 6, 3), six);
  expect_near(codes(config, 7, 3), seven);
}

TEST(Sinusoidal, TheLastInclusiveFrequencyIsTheBases) {
  const std::vector<double> code = codes({.base = 100.0, .inclusive = true}, 6, 2);
  EXPECT_DOUBLE_EQ(code[6], std::sin(1.0));
  EXPECT_DOUBLE_EQ(code[8], std::sin(0.1));
  EXPECT_DOUBLE_EQ(code[10], std::sin(0.01));
  EXPECT_DOUBLE_EQ(codes({.inclusive = true}, 2, 2)[2], std::sin(1.0)) << "one pair";
}

TEST(Sinusoidal, AnOffsetCountsOn) {
  const Sinusoidal plain({.max_length = 3}, {.embed = 4});
  const Sinusoidal later({.max_length = 3, .offset = 2}, {.embed = 4});
  const Tensor x = zeros({1, 5, 4});
  EXPECT_EQ(later.embed(x, 1).to_vector<float>(), plain.embed(x, 3).to_vector<float>());
  EXPECT_EQ(later.length(), Position::kAnyLength);
  EXPECT_EQ(error_message([] { Sinusoidal({.offset = -1}, {.embed = 4}); }),
            "[sinusoidal] offset is -1: it must be at least 0");
}

TEST(Sinusoidal, PositionsBeyondThoseKeptReady) {
  const Sinusoidal code({.max_length = 2}, {.embed = 4});
  const Tensor y = code.embed(zeros({1, 1, 4}), 100000);
  for (std::int64_t f = 0; f < 4; ++f) {
    EXPECT_FLOAT_EQ(y.data<float>()[f], static_cast<float>(paper(100000, f, 4)));
  }
}

TEST(Sinusoidal, NegativePositionsMirror) {
  const CodeTable::Value value = sinusoid(4, {.halves = true});
  EXPECT_EQ(value(-3, 1), -value(3, 1));
  EXPECT_EQ(value(-3, 3), value(3, 3));
}

}  // namespace
}  // namespace heed
