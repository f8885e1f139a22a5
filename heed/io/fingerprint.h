// A checksum of 64 bits. It tells bytes apart that should be the same; it is not against attacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace heed::io {

/// The checksum of bytes that are added one after another. It depends on how they are divided into
/// calls of add().
class Fingerprint {
 public:
  void add(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      mix(word);
    }
    for (const std::byte byte : bytes) mix(static_cast<std::uint64_t>(byte));
  }
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3u;
};

/// The checksum of some bytes.
inline std::uint64_t fingerprint(std::span<const std::byte> bytes) {
  Fingerprint print;
  print.add(bytes);
  return print.value();
}

}  // namespace heed::io
