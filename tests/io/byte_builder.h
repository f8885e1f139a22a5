// Builds binary files by hand, right and wrong ones: little-endian numbers and texts in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace heed::io {

class ByteBuilder {
 public:
  template <typename T>
  ByteBuilder& number(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    content_.append(bytes, sizeof value);
    return *this;
  }
  ByteBuilder& u8(unsigned value) { return number(static_cast<std::uint8_t>(value)); }
  ByteBuilder& u16(unsigned value) { return number(static_cast<std::uint16_t>(value)); }
  ByteBuilder& u32(std::uint32_t value) { return number(value); }
  ByteBuilder& u64(std::uint64_t value) { return number(value); }
  ByteBuilder& text(std::string_view value) {
    content_.append(value);
    return *this;
  }
  /// A length of 64 bits and the text, as in GGUF.
  ByteBuilder& counted(std::string_view value) { return u64(value.size()).text(value); }
  ByteBuilder& zeros(std::size_t count) {
    content_.append(count, '\0');
    return *this;
  }
  ByteBuilder& align(std::size_t alignment) {
    return zeros((alignment - content_.size() % alignment) % alignment);
  }

  std::size_t size() const { return content_.size(); }
  const std::string& str() const { return content_; }

 private:
  std::string content_;
};

}  // namespace heed::io
