#include "heed/evaluation/python_format.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "heed/text/unicode.h"

namespace heed::evaluation {

std::string fixed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::string shortest(double value) {
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(buffer.data(), end);
  if (plain && text.find('.') == text.npos) text += ".0";
  return text;
}

std::string ascii_json(std::string_view text) {
  std::string result = "\"";
  for (const char32_t c : unicode::decode(text)) {
    constexpr std::string_view kNamed = "\b\f\n\r\t\"\\", kNames = "bfnrt\"\\";
    const std::size_t named = c < 0x80 ? kNamed.find(static_cast<char>(c)) : kNamed.npos;
    if (named != kNamed.npos) {
      result += {'\\', kNames[named]};
    } else if (c >= U' ' && c <= U'~') {
      result += static_cast<char>(c);
    } else if (c < 0x10000) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      const auto rest = static_cast<unsigned>(c) - 0x10000;
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return result + '"';
}

}  // namespace heed::evaluation
