// Makes zip archives by hand, right and wrong ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/io/byte_builder.h"

namespace heed::io {

/// An entry and what may be wrong with it.
struct ZipPart {
  std::string name;
  std::string content = {};
  unsigned method = 0;
  unsigned flags = 0;
  std::string local_name = name;
  std::uint32_t crc_change = 0;
  bool in_64 = false;  // sizes and offset in a zip64 field
};

struct ZipForm {
  bool end_64 = false;  // with a zip64 end record
  std::string comment = {};
  int count_change = 0;
  int size_change = 0;       // of the central directory
  bool same_offset = false;  // all entries name the first local header
};

inline std::string zip_text(const std::vector<ZipPart>& parts, const ZipForm& form = {}) {
  ByteBuilder b, directory;
  for (const ZipPart& part : parts) {
    const auto offset = static_cast<std::uint32_t>(form.same_offset ? 0 : b.size());
    const auto size = static_cast<std::uint32_t>(part.content.size());
    const auto crc = static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(part.content.data()), size));
    const std::uint32_t shown = part.in_64 ? 0xffffffff : size;
    b.u32(0x04034b50).u16(20).u16(part.flags).u16(part.method).u32(0).u32(crc + part.crc_change);
    b.u32(shown).u32(shown).u16(static_cast<unsigned>(part.local_name.size())).u16(3);
    b.text(part.local_name).text("pad").text(part.content);
    directory.u32(0x02014b50).u16(20).u16(20).u16(part.flags).u16(part.method).u32(0);
    directory.u32(crc + part.crc_change).u32(shown).u32(shown);
    directory.u16(static_cast<unsigned>(part.name.size())).u16(part.in_64 ? 33 : 0).u16(0);
    directory.u16(0).u16(0).u32(0).u32(part.in_64 ? 0xffffffff : offset).text(part.name);
    if (part.in_64) {  // after a field of another kind
      directory.u16(0x4242).u16(1).u8(0).u16(1).u16(24).u64(size).u64(size).u64(offset);
    }
  }
  const auto count = static_cast<int>(parts.size()) + form.count_change;
  const auto begin = b.size();
  const auto size = static_cast<int>(directory.size()) + form.size_change;
  b.text(directory.str());
  if (form.end_64) {
    const auto end = b.size();
    b.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(static_cast<std::uint64_t>(count));
    b.u64(static_cast<std::uint64_t>(count)).u64(static_cast<std::uint64_t>(size)).u64(begin);
    b.u32(0x07064b50).u32(0).u64(end).u32(1);
    b.u32(0x06054b50).u16(0).u16(0).u16(0xffff).u16(0xffff).u32(0xffffffff).u32(0xffffffff);
  } else {
    b.u32(0x06054b50).u16(0).u16(0).u16(static_cast<unsigned>(count));
    b.u16(static_cast<unsigned>(count)).u32(static_cast<std::uint32_t>(size));
    b.u32(static_cast<std::uint32_t>(begin));
  }
  return b.u16(static_cast<unsigned>(form.comment.size())).text(form.comment).str();
}

}  // namespace heed::io
