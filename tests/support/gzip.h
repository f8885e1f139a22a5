// Compressed files for tests of what reads them.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace heed::test {

/// The text as the program gzip would write it.
inline std::string gzip(std::string_view text) {
  z_stream zlib{};
  constexpr int kGzip = 16;
  if (::deflateInit2(&zlib, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  std::string packed(::deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  const int code = ::deflate(&zlib, Z_FINISH);
  packed.resize(zlib.total_out);
  ::deflateEnd(&zlib);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

}  // namespace heed::test
