// The alphabet of byte-level BPE (GPT-2): each byte is written as one printable character, so that
// vocabularies are plain text. A space is "Ġ", a line end "Ċ".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::pipeline {

/// The character of each byte, as UTF-8.
const std::array<std::string, 256>& byte_characters();

/// The byte of a character of the alphabet.
std::optional<unsigned char> byte_of(char32_t character);

/// The bytes of a text in the alphabet; nothing if a character is not in it.
std::optional<std::string> bytes_of(std::string_view text);

}  // namespace heed::pipeline
