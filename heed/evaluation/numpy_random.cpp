#include "heed/evaluation/numpy_random.h"

#include <array>
#include <bit>
#include <limits>

#include "heed/base/error.h"

namespace heed::evaluation {
namespace {

__extension__ using Wide = unsigned __int128;

Wide wide(std::uint64_t high, std::uint64_t low) { return Wide{high} << 64 | low; }

// NumPy's SeedSequence: a seed is hashed into a pool of four words, which are hashed again into as
// many words as needed.
class SeedPool {
 public:
  explicit SeedPool(std::uint64_t seed) {
    // A 32-bit seed is one word; missing words count as 0.
    const std::array<std::uint32_t, 4> words = {static_cast<std::uint32_t>(seed),
                                                static_cast<std::uint32_t>(seed >> 32), 0, 0};
    std::uint32_t constant = 0x43b0d7e5;
    const auto hash = [&constant](std::uint32_t value) {
      value ^= constant;
      constant *= 0x931e8875;
      value *= constant;
      return value ^ value >> 16;
    };
    for (std::size_t i = 0; i < 4; ++i) pool_[i] = hash(words[i]);
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < 4; ++to) {
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
      }
    }
  }

  std::array<std::uint64_t, 4> state() const {
    std::array<std::uint64_t, 4> state = {};
    std::uint32_t constant = 0x8b51f9dd;
    for (std::size_t i = 0; i < 8; ++i) {
      std::uint32_t value = pool_[i % 4] ^ constant;
      constant *= 0x58f38ded;
      value *= constant;
      value ^= value >> 16;
      state[i / 2] |= std::uint64_t{value} << (32 * (i % 2));
    }
    return state;
  }

 private:
  static std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t value = 0xca01f9ddu * x - 0x4973f715u * y;
    return value ^ value >> 16;
  }

  std::array<std::uint32_t, 4> pool_ = {};
};

}  // namespace

NumpyRandom::NumpyRandom(std::uint64_t seed) {
  const auto [state_high, state_low, step_high, step_low] = SeedPool(seed).state();
  const Wide step = wide(step_high, step_low) << 1 | 1;
  step_high_ = static_cast<std::uint64_t>(step >> 64);
  step_low_ = static_cast<std::uint64_t>(step);
  // One step from state 0 gives `step`. The seed is added to that, and one more step is taken.
  const Wide state = step + wide(state_high, state_low);
  state_high_ = static_cast<std::uint64_t>(state >> 64);
  state_low_ = static_cast<std::uint64_t>(state);
  next64();
}

std::uint64_t NumpyRandom::next64() {
  const Wide factor = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
  const Wide state = wide(state_high_, state_low_) * factor + wide(step_high_, step_low_);
  state_high_ = static_cast<std::uint64_t>(state >> 64);
  state_low_ = static_cast<std::uint64_t>(state);
  return std::rotr(state_high_ ^ state_low_, static_cast<int>(state_high_ >> 58));
}

std::uint32_t NumpyRandom::next32() {
  if (half_) {
    const std::uint32_t value = *half_;
    half_.reset();
    return value;
  }
  const std::uint64_t value = next64();
  half_ = static_cast<std::uint32_t>(value >> 32);
  return static_cast<std::uint32_t>(value);
}

std::uint32_t NumpyRandom::below(std::uint32_t n) {
  HEED_ASSERT(n > 0);
  if (n == 1) return 0;
  std::uint64_t product = std::uint64_t{next32()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = (std::numeric_limits<std::uint32_t>::max() - (n - 1)) % n;
    while (static_cast<std::uint32_t>(product) < threshold) {
      product = std::uint64_t{next32()} * n;
    }
  }
  return static_cast<std::uint32_t>(product >> 32);
}

bool NumpyRandom::coin() {
  if (coins_left_ == 0) {
    coins_ = next32();
    coins_left_ = 32;
  }
  --coins_left_;
  const bool value = (coins_ & 1) != 0;
  coins_ >>= 1;
  return value;
}

}  // namespace heed::evaluation
