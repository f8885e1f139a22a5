#include "heed/text/pipeline/byte_alphabet.h"

#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

constexpr std::uint32_t kMovedTo = 0x100;  // bytes that are not printable come after Latin-1

constexpr bool is_printable_byte(std::uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> byte_points() {
  std::array<char32_t, 256> points{};
  std::uint32_t moved = kMovedTo;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    points[byte] = is_printable_byte(byte) ? byte : moved++;
  }
  return points;
}

constexpr std::array<std::int16_t, 0x144> bytes_by_point() {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  const std::array<char32_t, 256> points = byte_points();
  for (std::int16_t byte = 0; byte < 256; ++byte) {
    bytes[points[static_cast<std::size_t>(byte)]] = byte;
  }
  return bytes;
}

}  // namespace

const std::array<std::string, 256>& byte_characters() {
  static const std::array<std::string, 256> all = [] {
    std::array<std::string, 256> made;
    const std::array<char32_t, 256> points = byte_points();
    for (std::size_t byte = 0; byte < 256; ++byte) unicode::append(made[byte], points[byte]);
    return made;
  }();
  return all;
}

std::optional<unsigned char> byte_of(char32_t character) {
  static constexpr std::array<std::int16_t, 0x144> kBytes = bytes_by_point();
  if (character >= kBytes.size() || kBytes[character] < 0) return std::nullopt;
  return static_cast<unsigned char>(kBytes[character]);
}

std::optional<std::string> bytes_of(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const unicode::CodePoint point = unicode::front(text);
    const auto byte = point.valid ? byte_of(point.value) : std::nullopt;
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    text.remove_prefix(point.bytes);
  }
  return bytes;
}

}  // namespace heed::pipeline
