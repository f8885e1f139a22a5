// Makes safetensors files by hand, right and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::io {

/// Bytes of a file, in words so that they are aligned as a mapped file is.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::string_view bytes)
      : words_(bytes.size() / 8 + 1), size_(bytes.size()) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(words_)).first(size_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

/// Length, header and data; the header is padded to 8 bytes unless it is wanted raw.
inline std::string safetensors_text(std::string header, std::string_view data, bool pad = true) {
  while (pad && header.size() % 8 != 0) header += ' ';
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data);
}

}  // namespace heed::io
