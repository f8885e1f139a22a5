// Philox 4x32-10 as in Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and
// the normal distribution by Box-Muller.
#include "heed/base/random.h"

#include <cmath>
#include <numbers>

namespace heed {

std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t block,
                                    int rounds) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  std::array<std::uint32_t, 4> c = {low(block), high(block), low(stream), high(stream)};
  std::uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c[2];
    c = {high(product1) ^ c[1] ^ key0, low(product1), high(product0) ^ c[3] ^ key1, low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return c;
}

float RandomStream::normal(std::uint64_t index) const {
  const std::array<std::uint32_t, 4> words = philox(seed, stream, index / 4);
  const std::size_t pair = index % 4 / 2 * 2;
  // In (0, 1], so that the logarithm is finite. Small values, which give the tail of the
  // distribution, keep all 32 bits.
  const float radius_part = (static_cast<float>(words[pair]) + 1.0f) * 0x1p-32f;
  const float turn = static_cast<float>(words[pair + 1] >> 8) * 0x1p-24f;
  const float radius = std::sqrt(-2.0f * std::log(radius_part));
  const float angle = 2.0f * std::numbers::pi_v<float> * turn;
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

Generator& default_generator() {
  thread_local Generator generator;
  return generator;
}

}  // namespace heed
