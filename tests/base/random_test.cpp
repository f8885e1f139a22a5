// Philox against its published vectors, and the distributions drawn from it.
#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

namespace heed {
namespace {

using Words = std::array<std::uint32_t, 4>;

constexpr std::uint64_t kSamples = 1 << 18;

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments_of(const std::function<double(std::uint64_t)>& sample) {
  std::vector<double> values(kSamples);
  Moments m;
  for (std::uint64_t i = 0; i < kSamples; ++i) m.mean += values[i] = sample(i);
  m.mean /= kSamples;
  for (const double v : values) {
    const double d = v - m.mean;
    m.variance += d * d / kSamples;
    m.skewness += d * d * d / kSamples;
    m.kurtosis += d * d * d * d / kSamples;
  }
  m.skewness /= std::pow(m.variance, 1.5);
  m.kurtosis /= m.variance * m.variance;
  return m;
}

/// The chi-square statistic of counts that should all be equal, in standard deviations from its
/// mean.
double chi_square_sigmas(const std::vector<std::uint64_t>& counts) {
  double total = 0;
  for (const std::uint64_t n : counts) total += static_cast<double>(n);
  const double expected = total / static_cast<double>(counts.size());
  double chi2 = 0;
  for (const std::uint64_t n : counts) {
    const double d = static_cast<double>(n) - expected;
    chi2 += d * d / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi2 - freedom) / std::sqrt(2 * freedom);
}

double correlation(const std::function<double(std::uint64_t)>& a,
                   const std::function<double(std::uint64_t)>& b) {
  double sum = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) sum += (a(i) - 0.5) * (b(i) - 0.5) * 12;
  return sum / kSamples;
}

// The known answers of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Random, PhiloxGivesThePublishedWords) {
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(philox(kOnes, kOnes, kOnes), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0'a4093822, 0x03707344'13198a2e, 0x85a308d3'243f6a88),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, WordIsALaneOfABlock) {
  const RandomStream stream{42, 7};
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(stream.bits(i), philox(42, 7, i / 4)[i % 4]);
  const std::uint64_t far = (std::uint64_t{1} << 40) + 3;
  EXPECT_EQ(stream.bits(far), philox(42, 7, far / 4)[3]);
}

TEST(Random, EveryBitIsFair) {
  const RandomStream stream{1, 2};
  std::array<std::uint64_t, 32> ones{};
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::uint32_t word = stream.bits(i);
    for (unsigned bit = 0; bit < 32; ++bit) ones[bit] += word >> bit & 1u;
  }
  const double sigma = std::sqrt(kSamples) / 2;
  for (const std::uint64_t n : ones) {
    EXPECT_NEAR(static_cast<double>(n), kSamples / 2.0, 5 * sigma);
  }
}

TEST(Random, UniformIsUniform) {
  const RandomStream stream{3, 0};
  const Moments m = moments_of([&](std::uint64_t i) { return stream.uniform(i); });
  EXPECT_NEAR(m.mean, 0.5, 0.003);
  EXPECT_NEAR(m.variance, 1 / 12.0, 0.001);
  EXPECT_NEAR(m.skewness, 0, 0.02);
  EXPECT_NEAR(m.kurtosis, 1.8, 0.02);

  std::vector<std::uint64_t> counts(1000);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const float u = stream.uniform(i);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++counts[static_cast<std::size_t>(u * 1000)];
  }
  EXPECT_LT(std::abs(chi_square_sigmas(counts)), 5);
}

TEST(Random, StreamsSeedsAndNeighboursAreIndependent) {
  const RandomStream base{5, 10}, next_stream{5, 11}, next_seed{6, 10};
  const auto of = [](const RandomStream& s, std::uint64_t shift) {
    return [&s, shift](std::uint64_t i) { return static_cast<double>(s.uniform(i + shift)); };
  };
  const double limit = 5 / std::sqrt(kSamples);
  EXPECT_NEAR(correlation(of(base, 0), of(next_stream, 0)), 0, limit);
  EXPECT_NEAR(correlation(of(base, 0), of(next_seed, 0)), 0, limit);
  EXPECT_NEAR(correlation(of(base, 0), of(base, 1)), 0, limit);
  EXPECT_NEAR(correlation(of(base, 0), of(base, 4)), 0, limit);

  // Pairs from two streams fill a square evenly.
  std::vector<std::uint64_t> counts(64 * 64);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    ++counts[(base.bits(i) >> 26) * 64 + (next_stream.bits(i) >> 26)];
  }
  EXPECT_LT(std::abs(chi_square_sigmas(counts)), 5);
}

TEST(Random, NormalIsNormal) {
  const RandomStream stream{9, 1};
  const Moments m = moments_of([&](std::uint64_t i) { return stream.normal(i); });
  EXPECT_NEAR(m.mean, 0, 0.01);
  EXPECT_NEAR(m.variance, 1, 0.015);
  EXPECT_NEAR(m.skewness, 0, 0.03);
  EXPECT_NEAR(m.kurtosis, 3, 0.06);

  // Slices of equal probability by the distribution function.
  std::vector<std::uint64_t> counts(100);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const double z = stream.normal(i);
    ASSERT_TRUE(std::isfinite(z));
    ++counts[std::min<std::size_t>(99,
                                   static_cast<std::size_t>(50 * std::erfc(-z / std::sqrt(2.0))))];
  }
  EXPECT_LT(std::abs(chi_square_sigmas(counts)), 5);

  // The two halves of a pair share their words but not their values.
  double covariance = 0;
  for (std::uint64_t i = 0; i < kSamples; i += 2)
    covariance += stream.normal(i) * stream.normal(i + 1);
  EXPECT_NEAR(covariance / (kSamples / 2), 0, 5 / std::sqrt(kSamples / 2));
}

TEST(Random, NormalIsBoxMullerOfItsPairOfWords) {
  const RandomStream stream{11, 3};
  for (std::uint64_t i = 0; i < 4000; i += 2) {
    const double radius = std::sqrt(-2 * std::log((stream.bits(i) + 1.0) * 0x1p-32));
    const double angle = 2 * M_PI * stream.uniform(i + 1);
    EXPECT_NEAR(stream.normal(i), radius * std::cos(angle), 1e-5);
    EXPECT_NEAR(stream.normal(i + 1), radius * std::sin(angle), 1e-5);
  }
}

TEST(Random, BelowIsEvenAndInRange) {
  const RandomStream stream{13, 0};
  for (const std::uint32_t bound : {1u, 2u, 7u, 1000u}) {
    std::vector<std::uint64_t> counts(bound);
    for (std::uint64_t i = 0; i < kSamples; ++i) ++counts.at(stream.below(i, bound));
    if (bound > 1) {
      EXPECT_LT(std::abs(chi_square_sigmas(counts)), 5) << bound;
    }
  }
  EXPECT_LT(stream.below(0, 0xffffffffu), 0xffffffffu);
}

TEST(Random, GeneratorHandsOutStreamsAndResumes) {
  Generator generator(17);
  EXPECT_EQ(generator.next().stream, 0u);
  EXPECT_EQ(generator.next().stream, 1u);
  const Generator::State saved = generator.state();
  const std::uint32_t expected = generator.next().bits(5);
  Generator other(99);
  other.restore(saved);
  EXPECT_EQ(other.next().bits(5), expected);
  EXPECT_EQ(other.state(), generator.state());
}

TEST(Random, DefaultGeneratorIsPerThread) {
  const Generator before = default_generator();
  default_generator() = Generator(23);
  default_generator().next();
  EXPECT_EQ(default_generator().state(), (Generator::State{23, 1}));
  std::thread([] { EXPECT_EQ(default_generator().state(), (Generator::State{0, 0})); }).join();
  default_generator() = before;
}

}  // namespace
}  // namespace heed
