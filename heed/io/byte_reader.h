// Reads little-endian numbers and texts from bytes, in order. The readers of binary formats share
// it, so that none of them can read after the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

/// A position in the bytes of a file. Reading after the end throws heed::Error.
class ByteReader {
 public:
  /// `format` and `source` begin messages: "[gguf] model.gguf: …". `base` is the position of the
  /// first byte in the file.
  ByteReader(std::span<const std::byte> bytes, std::string_view format, std::string_view source,
             std::size_t base = 0)
      : bytes_(bytes), format_(format), source_(source), base_(base) {}

  std::size_t at() const { return at_; }                    ///< Bytes read.
  std::size_t file_byte() const { return base_ + at_; }     ///< Position in the file.
  std::size_t left() const { return bytes_.size() - at_; }  ///< Bytes not yet read.
  std::string_view format() const { return format_; }
  std::string_view source() const { return source_; }

  /// The next `size` bytes; `what` names them in the message if the file ends before.
  std::span<const std::byte> take(std::uint64_t size, std::string_view what) {
    HEED_CHECK(size <= left(),
               "[{}] {}: {} at byte {} needs {} bytes, and {} are left: the file is cut off or "
               "damaged",
               format_, source_, what, file_byte(), size, left());
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += part.size();
    return part;
  }
  /// The next number.
  template <typename T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  /// The next `size` bytes as text.
  std::string_view text(std::uint64_t size, std::string_view what) {
    const auto part = take(size, what);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  /// Throws an error about this position, or about another one.
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    refuse_at(file_byte(), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  [[noreturn]] void refuse_at(std::size_t byte, fmt::format_string<Args...> format,
                              Args&&... args) const {
    fail("[{}] {}: byte {}: {}", format_, source_, byte,
         fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view format_;
  std::string_view source_;
  std::size_t base_;
  std::size_t at_ = 0;
};

}  // namespace heed::io
