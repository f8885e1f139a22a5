// The yardstick of decoding: how fast memory can be read at all.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace heed::bench {

/// A way to read memory; which is the fastest depends on the machine's prefetchers.
struct ReadWay {
  std::string_view name;
  /// The sum of all words in [data, data + bytes), so that they are read; bytes is a multiple of
  /// 1024.
  std::size_t (*sum)(const std::byte* data, std::size_t bytes);
};

std::span<const ReadWay> read_ways();

/// Seconds of one reading of whole megabytes, the threads of the pool taking one after another.
double time_read(const ReadWay& way, std::span<const std::byte> memory);

}  // namespace heed::bench
