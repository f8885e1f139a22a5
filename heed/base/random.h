// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): value = f(seed, stream,
// index). There is no state between numbers, so dropout needs no mask in memory, work can be split
// anywhere, and a resumed run continues exactly.
#pragma once

#include <array>
#include <cstdint>

namespace heed {

/// Four 32-bit words of Philox 4x32 for a 64-bit key (seed) and a 128-bit counter (stream, block).
/// Ten rounds have a safety margin; seven are the fewest that pass all tests of BigCrush.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t block,
                                    int rounds = 10);

/// A stream of random numbers, identified by a seed and a stream number; each number has an index.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  /// The 32-bit word at an index; word i is lane i % 4 of block i / 4.
  std::uint32_t bits(std::uint64_t index) const {
    return philox(seed, stream, index / 4)[index % 4];
  }
  /// Uniform in [0, 1), 24 bits.
  float uniform(std::uint64_t index) const {
    return static_cast<float>(bits(index) >> 8) * 0x1p-24f;
  }
  /// Standard normal by Box-Muller; indices 2i and 2i+1 share two words.
  float normal(std::uint64_t index) const;
  /// An integer in [0, bound), unbiased to 2^-32.
  std::uint32_t below(std::uint64_t index, std::uint32_t bound) const {
    return static_cast<std::uint32_t>((std::uint64_t{bits(index)} * bound) >> 32);
  }
};

/// Gives out streams one after another. Its state is two numbers, so saving and resuming are exact.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : seed_(seed) {}
  RandomStream next() { return {seed_, next_stream_++}; }

  struct State {
    std::uint64_t seed = 0;
    std::uint64_t next_stream = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  State state() const { return {seed_, next_stream_}; }
  void restore(State state) { seed_ = state.seed, next_stream_ = state.next_stream; }

 private:
  std::uint64_t seed_;
  std::uint64_t next_stream_ = 0;
};

/// The generator that is used if none is given. There is one per thread, with seed 0; change it
/// with `default_generator() = Generator(seed)`.
Generator& default_generator();

}  // namespace heed
