#include "benchmarks/support/read_rate.h"

#include <atomic>
#include <cstdint>

#include "benchmarks/support/measure.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"

// One version of the loops per instruction set, chosen when the program starts.
#if defined(__x86_64__)
#define HEED_BENCH_CLONES [[gnu::target_clones("default", "avx2", "avx512f")]]
#else
#define HEED_BENCH_CLONES
#endif

namespace heed::bench {
namespace {

constexpr std::size_t kLine = 64;
using Lanes [[gnu::vector_size(32), gnu::may_alias]] = std::uint64_t;

// Reads `Streams` equal parts side by side, each with its own sums so that no addition waits for
// another, and prefetches memory `Ahead` bytes ahead.
template <std::size_t Streams, std::size_t Ahead>
[[gnu::always_inline]] inline std::size_t sum_streams(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kStep = 8 / Streams * sizeof(Lanes);
  constexpr std::size_t kLanes = kStep / sizeof(Lanes);
  const std::size_t part = bytes / Streams;
  Lanes sums[Streams][kLanes] = {};
  for (std::size_t at = 0; at < part; at += kStep) {
#pragma GCC unroll 8
    for (std::size_t s = 0; s < Streams; ++s) {
      const std::byte* const from = data + s * part + at;
      if constexpr (Ahead > 0) {
        for (std::size_t line = 0; line < kStep; line += kLine) {
          __builtin_prefetch(from + Ahead + line, 0, 0);
        }
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i) {
        sums[s][i] += *reinterpret_cast<const Lanes*>(from + i * sizeof(Lanes));
      }
    }
  }
  Lanes total = {};
  for (const auto& of_stream : sums) {
    for (const Lanes& sum : of_stream) total += sum;
  }
  return total[0] + total[1] + total[2] + total[3];
}

HEED_BENCH_CLONES std::size_t one(const std::byte* data, std::size_t bytes) {
  return sum_streams<1, 0>(data, bytes);
}
HEED_BENCH_CLONES std::size_t one_ahead(const std::byte* data, std::size_t bytes) {
  return sum_streams<1, 1024>(data, bytes);
}
HEED_BENCH_CLONES std::size_t two(const std::byte* data, std::size_t bytes) {
  return sum_streams<2, 0>(data, bytes);
}
HEED_BENCH_CLONES std::size_t four(const std::byte* data, std::size_t bytes) {
  return sum_streams<4, 0>(data, bytes);
}

constexpr ReadWay kWays[] = {
    {"1 stream", one},
    {"1 stream, prefetched", one_ahead},
    {"2 streams", two},
    {"4 streams", four},
};

constexpr std::size_t kPiece = std::size_t{1} << 20;

}  // namespace

std::span<const ReadWay> read_ways() { return kWays; }

double time_read(const ReadWay& way, std::span<const std::byte> memory) {
  static std::atomic<std::size_t> sink;
  HEED_ASSERT(memory.size() % kPiece == 0);
  return seconds([&] {
    parallel_for(static_cast<std::int64_t>(memory.size() / kPiece), kPiece, [&](std::int64_t i) {
      sink += way.sum(memory.data() + static_cast<std::size_t>(i) * kPiece, kPiece);
    });
  });
}

}  // namespace heed::bench
