// The reference for decoding: the highest rate at which memory can be read.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace heed::bench {

/// A way to read memory; the prefetchers of the machine decide which is fastest.
struct ReadWay {
  std::string_view name;
  /// The sum of all words in [data, data + bytes), so that they are read; bytes is a multiple of
  /// 1024.
  std::size_t (*sum)(const std::byte* data, std::size_t bytes);
};

std::span<const ReadWay> read_ways();

/// Seconds to read the memory once, split into megabytes that the threads of the pool take in turn.
double time_read(const ReadWay& way, std::span<const std::byte> memory);

}  // namespace heed::bench
