// Makes GGUF files by hand, right and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/byte_builder.h"

namespace heed::io {

/// One line of the table of tensors; the sizes have the fastest axis first.
struct GgufLine {
  std::string name;
  std::vector<std::uint64_t> sizes = {};
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

struct GgufParts {
  std::uint32_t version = 3;
  std::uint32_t alignment = 0;  // 0: the key is absent
  std::vector<GgufLine> lines = {};
  std::string data = {};
};

inline std::string gguf_text(const GgufParts& parts) {
  ByteBuilder b;
  b.text("GGUF").u32(parts.version).u64(parts.lines.size()).u64(parts.alignment != 0);
  if (parts.alignment != 0) b.counted("general.alignment").u32(4).u32(parts.alignment);
  for (const GgufLine& line : parts.lines) {
    b.counted(line.name).u32(static_cast<std::uint32_t>(line.sizes.size()));
    for (const std::uint64_t size : line.sizes) b.u64(size);
    b.u32(line.type).u64(line.offset);
  }
  return b.align(parts.alignment != 0 ? parts.alignment : 32).text(parts.data).str();
}

}  // namespace heed::io
