#include "heed/attention/positions/sinusoidal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/tensor/create.h"

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

TEST(Sinusoidal, PositionsBeyondThoseKeptReady) {
  const Sinusoidal code({.max_length = 2}, {.embed = 4});
  const Tensor y = code.embed(zeros({1, 1, 4}), 100000);
  for (std::int64_t f = 0; f < 4; ++f) {
    EXPECT_FLOAT_EQ(y.data<float>()[f], static_cast<float>(paper(100000, f, 4)));
  }
}

TEST(Sinusoidal, NegativePositionsMirror) {
  const CodeTable::Value value = sinusoid(4, 10000.0, true);
  EXPECT_EQ(value(-3, 1), -value(3, 1));
  EXPECT_EQ(value(-3, 3), value(3, 3));
}

}  // namespace
}  // namespace heed
